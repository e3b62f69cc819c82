import type { LoadHistory } from '../../decision/snapshot/snapshot.js';
import type { MetricSpec, Scaler } from '../../scaler/spec.js';
import type { Instant } from '../../units/time.js';
import { mustGet } from '../../units/maps.js';
import type { Answer } from '../answers/answer.js';
import { queryDeadlineSeconds, type SourceConfig } from '../data-source/source-config.js';
import type { CapacityReading, CapacityWatch } from './capacity-watch.js';
import { ownKey, type ScalerQueries } from './compile-queries.js';
import type { OpenSource } from './open-source.js';
import type { Plan } from './plan-round.js';
import { type TotalLoad, totalLoad, windowOfMetric } from './total-load.js';

/** Queries that are sent only if the decision needs them, and results of earlier queries. */
export interface FollowUps {
  /**
   * Returns the answer to the query that ranks the pods of a due scaler; null: its document has no such query. The
   * query is sent after the queries of the metrics, and the round does not wait for its answer. Never rejects.
   */
  readonly ranking: (scaler: Scaler) => Promise<Answer | null>;
  /**
   * Returns a sentence for each metric of a due scaler in which the last check found duplicate series; null: no check
   * has ever found any.
   */
  readonly duplicates: (scaler: Scaler) => readonly string[] | null;
  /**
   * Returns why the values of a due scaler may be based on old samples, in the order of `spec.metrics`. Null: the value
   * is not based on old samples, the metric is not in `metrics`, or the source cannot be checked. Called only for
   * decisions that would lower the count, because each call sends queries. Never rejects.
   */
  readonly whyOld: (scaler: Scaler, checked: CheckedScaler) => Promise<readonly (string | null)[]>;
  /**
   * Returns the load of earlier days for the forecast of a due scaler. Undefined: nothing was read yet, or the document
   * has no forecast.
   */
  readonly loadHistory: (scaler: Scaler, asked: HistoryOrder) => LoadHistory | undefined;
  /** Returns the last measured capacity of a metric with `capacity.auto`, or null. */
  readonly capacityOf: (scaler: Scaler, metric: MetricSpec) => CapacityReading | null;
  /** The data sources, with the windows in the queries of this round. */
  readonly sources: ReadonlyMap<string, SourceConfig>;
}

/** Returns the follow-ups of a scaler whose queries were not sent by a round. */
export function noFollowUps(sources: FollowUps['sources']): FollowUps {
  return {
    ranking: () => Promise.resolve(null),
    duplicates: () => null,
    whyOld: () => Promise.resolve([]),
    loadHistory: () => undefined,
    capacityOf: () => null,
    sources,
  };
}

export interface HistoryOrder {
  readonly now: Instant;
  /** The seconds that pods take to become ready; null: not known yet. */
  readonly podStartSeconds: number | null;
}

export interface CheckedScaler {
  /** Indexes of the metrics to check. */
  readonly metrics: ReadonlySet<number>;
  /** The names of the target's pods. */
  readonly pods: ReadonlySet<string>;
  /** Whether a result of the last minute may be used again, because the decision is not applied. */
  readonly mayBeKept: boolean;
}

export interface FollowUpInput {
  readonly sources: ReadonlyMap<string, OpenSource>;
  readonly signal: AbortSignal;
  /** Increases from round to round. */
  readonly number: number;
  readonly capacities: CapacityWatch;
}

/** The answers of a round that have arrived. */
export interface ArrivedAnswers {
  /** Returns the answer with a key; undefined: it has not arrived yet. */
  readonly get: (key: string) => Answer | undefined;
  readonly wait: (key: string) => Promise<Answer>;
}

export function createFollowUps(
  plan: Plan,
  { sources, signal, number: round, capacities }: FollowUpInput,
  answers: ArrivedAnswers,
): FollowUps {
  const queriesOf = (scaler: Scaler): ScalerQueries => mustGet(plan.queriesOf, scaler, scaler.key);
  /** The age queries of this round, which scalers that scale down in the same round share. */
  const ageQueries = new Map<string, Promise<Answer>>();
  return {
    ranking: async (scaler) => {
      const { ranking } = queriesOf(scaler);
      if (ranking === null) return null;
      if (ranking.kind === 'refused') return ranking.answer;
      return answers.wait(ranking.key);
    },
    duplicates: (scaler) => describeDuplicates(queriesOf(scaler), sources),
    capacityOf: capacities.readingOf,
    sources: plan.sources,
    loadHistory: (scaler, { now, podStartSeconds }) => {
      const { forecast, metrics } = scaler.spec;
      const metric = forecast === null ? undefined : metrics[forecast.metric];
      const source = metric === undefined ? undefined : sources.get(metric.source);
      if (forecast === null || metric === undefined || source === undefined) return undefined;
      if (queriesOf(scaler).metrics[forecast.metric]?.kind === 'refused') return undefined;
      const ofRound = mustGet(plan.sources, metric.source);
      const startSeconds = forecast.leadSeconds ?? podStartSeconds;
      if (startSeconds === null) return NO_LEAD;
      const leadSeconds =
        forecast.leadSeconds ?? Math.ceil(startSeconds + windowOfMetric(metric, source.configFor(ofRound)));
      const load = (): TotalLoad | null => totalLoad(metric, scaler, source.configFor(ofRound));
      return source.histories.read({ scaler, forecast, load, leadSeconds, now }, signal);
    },
    whyOld: async (scaler, { metrics, ...checked }) => {
      const queries = queriesOf(scaler);
      return Promise.all(
        scaler.spec.metrics.map(async (metric, index) => {
          const source = sources.get(metric.source);
          if (source === undefined || !metrics.has(index)) return null;
          const { queue, sampleAges } = source;
          const config = source.configFor(mustGet(plan.sources, metric.source));
          const seconds = queryDeadlineSeconds(config, scaler.spec.syncPeriodSeconds);
          const owners = [{ namespace: scaler.namespace, scaler: scaler.name }];
          const query = (text: string, left: number): Promise<Answer> => {
            const key = ownKey(config, text);
            let answer = ageQueries.get(key);
            if (answer === undefined) {
              answer = queue.query(text, { seconds: left, signal, round, owners });
              ageQueries.set(key, answer);
            }
            return answer;
          };
          const sent = queries.metrics[index];
          const answer = sent === undefined || sent.kind === 'refused' ? undefined : answers.get(sent.key);
          const valueAtSeconds =
            answer !== undefined && 'evaluatedAt' in answer ? answer.evaluatedAt / 1000 : null;
          return sampleAges.check({ scaler, metric, config, seconds, valueAtSeconds, ...checked }, query);
        }),
      );
    },
  };
}

const NO_LEAD: LoadHistory = {
  leadSeconds: 0,
  highest: 0,
  seasons: [],
  unusable: 'the pod start time is not known yet: promscaler has not seen a pod become ready',
};

function describeDuplicates(
  { scaler, metrics }: ScalerQueries,
  sources: ReadonlyMap<string, OpenSource>,
): readonly string[] | null {
  const sentences = metrics.flatMap((query, index) => {
    if (query.kind === 'refused') return [];
    const finding = mustGet(sources, query.source.name).duplicates?.describe(query, scaler.namespace);
    if (finding == null) return [];
    return [finding === '' ? '' : `metric "${scaler.spec.metrics[index]?.identity ?? ''}": ${finding}`];
  });
  return sentences.length === 0 ? null : sentences.filter((sentence) => sentence !== '');
}
