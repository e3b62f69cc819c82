import type { LoadHistory } from '../../decision/snapshot/snapshot.js';
import type { MetricSpec, Scaler } from '../../scaler/spec.js';
import type { Instant } from '../../units/time.js';
import type { Answer } from '../answers/answer.js';
import type { SourceConfig } from '../data-source/source-config.js';
import type { SourceAges } from '../source/age.js';
import type { QueryQueue } from '../source/queue.js';
import type { Recognition } from '../source/recognition.js';
import type { CapacityReading, CapacityWatch } from './capacity-watch.js';
import { ownKey, type ScalerQueries } from './compile-queries.js';
import type { DuplicateWatch } from './duplicate-watch.js';
import type { LoadHistories } from './load-histories.js';
import type { Plan } from './plan-round.js';
import type { SampleAges } from './sample-ages.js';
import { type TotalLoad, totalLoad, windowOfMetric } from './total-load.js';

/** The parts of a data source that are kept from round to round. */
export interface Source {
  readonly queue: QueryQueue;
  readonly recognition: Recognition;
  readonly ages: SourceAges;
  readonly sampleAges: SampleAges;
  readonly histories: LoadHistories;
  readonly duplicates: DuplicateWatch | null;
}

/** Queries that are sent only if the decision needs them, and facts that the data sources know. */
export interface FollowUps {
  /**
   * Returns the answer to the query that ranks the pods of a due scaler; null: its document has no such query. The
   * query is sent after those of the metrics, and the round does not wait for it. Unset: the source ranks no pods.
   * Never rejects.
   */
  readonly ranking?: (scaler: Scaler) => Promise<Answer | null>;
  /**
   * Returns a sentence for each metric of a due scaler in which the last check found duplicate series; null: no check
   * has ever found any. Unset: the source does not check.
   */
  readonly duplicates?: (scaler: Scaler) => readonly string[] | null;
  /**
   * Returns why the values of a due scaler may be based on old samples, in the order of `spec.metrics`. Null: the value
   * is not based on old samples, the metric is not in `metrics`, or the source cannot be checked. Called only for
   * decisions that would lower the count, because each call sends queries. Unset: the source does not check. Never
   * rejects.
   */
  readonly whyOld?: (scaler: Scaler, checked: CheckedScaler) => Promise<readonly (string | null)[]>;
  /**
   * Returns the load of earlier days for the forecast of a due scaler. Undefined: nothing was read yet, or the document
   * has no forecast. Unset: the source reads no such loads.
   */
  readonly loadHistory?: (scaler: Scaler, asked: HistoryOrder) => LoadHistory | undefined;
  /** Returns the last measured capacity of a metric with `capacity.auto`, or null. Unset: nothing is measured. */
  readonly capacityOf?: (scaler: Scaler, metric: MetricSpec) => CapacityReading | null;
  /** The data sources, with the windows in the queries of this round. Unset: the data sources of the config. */
  readonly sources?: ReadonlyMap<string, SourceConfig>;
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
  /** Whether a result of the last minute may be used again. */
  readonly mayBeKept: boolean;
}

export interface FollowUpInput {
  readonly sources: ReadonlyMap<string, Source>;
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

const LEAST_DEADLINE_SECONDS = 1;

/**
 * Returns the time limit of a query over all urls of its source: the timeout of the source or half the period,
 * whichever is shorter, but at least 1 s.
 */
export function queryDeadlineSeconds(source: SourceConfig, periodSeconds: number): number {
  return Math.max(LEAST_DEADLINE_SECONDS, Math.min(source.timeoutSeconds, periodSeconds / 2));
}

/** Returns the config of a source for a round: its window, and queries for its server that count no duplicates. */
export function queryConfig({ recognition, duplicates }: Source, ofRound: SourceConfig): SourceConfig {
  const recognized = recognition.config();
  const config = duplicates?.adaptConfig(recognized) ?? recognized;
  const { resourceWindowSeconds, learnedIntervalSeconds } = ofRound;
  return learnedIntervalSeconds === undefined
    ? config
    : { ...config, resourceWindowSeconds, learnedIntervalSeconds };
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
        forecast.leadSeconds ??
        Math.ceil(startSeconds + windowOfMetric(metric, queryConfig(source, ofRound)));
      const load = (): TotalLoad | null => totalLoad(metric, scaler, queryConfig(source, ofRound));
      return source.histories.read({ scaler, forecast, load, leadSeconds, now }, signal);
    },
    whyOld: async (scaler, { metrics, ...checked }) => {
      const queries = queriesOf(scaler);
      return Promise.all(
        scaler.spec.metrics.map(async (metric, index) => {
          const source = sources.get(metric.source);
          if (source === undefined || !metrics.has(index)) return null;
          const { queue, sampleAges } = source;
          const config = queryConfig(source, mustGet(plan.sources, metric.source));
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
  { scaler, metrics, candidates }: ScalerQueries,
  sources: ReadonlyMap<string, Source>,
): readonly string[] | null {
  const sentences = candidates.flatMap((candidate, index) => {
    const metric = metrics[index];
    if (candidate === null || metric === undefined || metric.kind === 'refused') return [];
    const finding = mustGet(sources, metric.source.name).duplicates?.describe(candidate, scaler.namespace);
    if (finding == null) return [];
    return [finding === '' ? '' : `metric "${scaler.spec.metrics[index]?.identity ?? ''}": ${finding}`];
  });
  return sentences.length === 0 ? null : sentences.filter((sentence) => sentence !== '');
}

/** Throws `Error` if the map does not have the key. */
export function mustGet<K, V>(map: ReadonlyMap<K, V>, key: K, name = String(key)): V {
  const value = map.get(key);
  if (value === undefined) throw new Error(`${name} is not part of this round`);
  return value;
}
