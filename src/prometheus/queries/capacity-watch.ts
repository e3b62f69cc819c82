import { createHash } from 'node:crypto';
import { podsPattern } from '../../promql/pods-pattern.js';
import { stringLiteral } from '../../promql/quoting.js';
import {
  type AutoCapacity,
  autoCapacityOf,
  type ExternalMetric,
  type MetricSpec,
  type ObjectMetric,
  type Scaler,
} from '../../scaler/spec.js';
import type { Clock } from '../../units/clock.js';
import { RecentMap } from '../../units/recent-map.js';
import { addSeconds, type Instant } from '../../units/time.js';
import type { Answer } from '../answers/answer.js';
import { withVariables } from './compile-queries.js';

/** The load that the ready pods of a workload served. Null: there is no value, which is not the same as 0. */
export interface CapacityReading {
  readonly at: Instant;
  /** The highest load per ready pod without errors, on each of three days before the last hour, newest day first. */
  readonly days: readonly (number | null)[];
  /** The highest load per ready pod at times without errors, in the last hour. */
  readonly recent: number | null;
  /**
   * The highest load per ready pod in the last hour at times with errors or a backlog; null unless there were at least
   * 5 such minutes.
   */
  readonly limit: number | null;
}

/** Measures the capacity of pods for metrics with `capacity.auto`, by one query for each metric and hour. */
export interface CapacityWatch {
  /** Returns the last reading of a metric; null: it is older than a day, or the metric has no `capacity.auto`. */
  readonly readingOf: (scaler: Scaler, metric: MetricSpec) => CapacityReading | null;
  /** Sends a few of the queries that are due for these scalers. Never throws. */
  readonly read: (scalers: Iterable<Scaler>, ask: AskCapacity) => void;
}

type AskCapacity = (source: string, text: string, scaler: Scaler) => Promise<Answer> | null;

const READ_MS = 3_600_000;
const RETRY_MS = 300_000;
/** A call of `read` sends at most 1/20 of all queries, so that the source does not get all of them at once. */
const ROUNDS = 20;
/** The maximum age of a reading that is used. If a reading is older, all queries since then have failed. */
export const LONGEST_READING_SECONDS = 86_400;
/** A query is forgotten if no document has contained it for this time. */
const KEEP_SECONDS = 7200;

interface Watched {
  reading: CapacityReading | null;
  nextMs: number;
}

/** Keeps one reading for each query, which several scalers may share. */
export function createCapacityWatch({
  clock,
  onFault,
}: {
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>;
  readonly onFault: (error: unknown) => void;
}): CapacityWatch {
  const watched = new RecentMap<string, Watched>(KEEP_SECONDS);

  const readOne = async (state: Watched, answer: Promise<Answer>): Promise<void> => {
    const reading = readingIn(await answer, clock.now());
    if (reading !== null) state.reading = reading;
    state.nextMs = clock.monotonicMs() + (reading === null ? RETRY_MS : READ_MS);
  };

  return {
    readingOf: (scaler, metric) => {
      if (!isAuto(metric)) return null;
      const now = clock.now();
      const reading = watched.get(capacityKey(scaler, metric, now), now)?.reading ?? null;
      return reading === null || reading.at < addSeconds(now, -LONGEST_READING_SECONDS) ? null : reading;
    },
    read: (scalers, ask) => {
      const now = clock.now();
      const nowMs = clock.monotonicMs();
      const due = new Map<string, { readonly scaler: Scaler; readonly metric: AutoMetric; state: Watched }>();
      let count = 0;
      for (const scaler of scalers)
        for (const metric of scaler.spec.metrics) {
          if (!isAuto(metric)) continue;
          count += 1;
          const key = capacityKey(scaler, metric, now);
          const known = watched.get(key, now);
          const state = known ?? { reading: null, nextMs: nowMs };
          if (known === undefined) watched.set(key, state, now);
          if (state.nextMs <= nowMs) due.set(key, { scaler, metric, state });
        }
      const first = [...due.values()]
        .sort((one, other) => one.state.nextMs - other.state.nextMs)
        .slice(0, Math.ceil(count / ROUNDS));
      for (const { scaler, metric, state } of first) {
        const answer = ask(metric.source, capacityQuery(scaler, metric), scaler);
        // Prevents a second query until the answer arrives. After that, `readOne` sets the time of the next query.
        state.nextMs = nowMs + READ_MS;
        if (answer !== null) readOne(state, answer).catch(onFault);
      }
    },
  };
}

export type AutoMetric = (ObjectMetric | ExternalMetric) & { readonly autoCapacity: AutoCapacity };

export function isAuto(metric: MetricSpec): metric is AutoMetric {
  return autoCapacityOf(metric) !== undefined;
}

const keys = new RecentMap<MetricSpec, { readonly key: string }>();

/** Returns the key of a metric's readings. Scalers with the same query share it; an edited query has another key. */
export function capacityKey(scaler: Scaler, metric: AutoMetric, now: Instant): string {
  const known = keys.get(metric, now);
  if (known !== undefined) return known.key;
  const text = `${metric.source}\n${capacityQuery(scaler, metric)}`;
  const key = createHash('sha256').update(text).digest('hex').slice(0, 16);
  keys.set(metric, { key }, now);
  return key;
}

/** Returns null if the answer is incomplete: the missing series could have had the maximum. */
function readingIn(answer: Answer, at: Instant): CapacityReading | null {
  if (answer.class !== 'value') return null;
  const valueOf = (part: string): number | null => {
    const value = answer.series.find(({ labels }) => labels[PART] === part)?.value;
    return value !== undefined && Number.isFinite(value) && value > 0 ? value : null;
  };
  return {
    at,
    days: DAYS.map(([part]) => valueOf(part)),
    recent: valueOf('recent'),
    limit: valueOf('limit'),
  };
}

const PART = 'promscaler_part';

/**
 * Three periods of a day: the name of each, and how many hours ago it ended. The latest period ended an hour ago,
 * because the last hour is compared with the three days.
 */
const DAYS = [
  ['day-1', 1],
  ['day-2', 25],
  ['day-3', 49],
] as const;

/** Pods that would need longer than this to process the backlog are regarded as working at their limit. */
const BUSY_SECONDS = 10;

/**
 * Returns the query of a reading. The served load is divided by the highest number of ready pods in the last 10
 * minutes, because a rate still contains the requests that removed pods served.
 */
export function capacityQuery(scaler: Scaler, metric: AutoMetric): string {
  const { autoCapacity, backlog } = metric;
  const sumOf = (query: string): string => `sum(${withVariables(query, metric, scaler)}\n)`;
  const served = sumOf(autoCapacity.servedQuery);
  const perPod = `(${served} / (${readyPods(scaler)} > 0))`;
  const { errorsQuery } = autoCapacity;
  const failing = errorsQuery === undefined ? [] : [`${sumOf(errorsQuery)} > 0.01 * ${served}`];
  const waiting = backlog === undefined ? [] : [`${sumOf(backlog.query)} > ${BUSY_SECONDS} * ${served}`];
  const good = failing.length === 0 ? perPod : `(${perPod} unless (${failing.join('')}))`;
  const busy = [...failing, ...waiting].map((one) => `(${one})`).join(' or ');
  const atLimit = `((${perPod} and (${busy}))[1h:1m])`;
  const parts = [
    ...DAYS.map(([part, hours]) => named(part, `max_over_time(${good}[1d:5m] offset ${hours}h)`)),
    named('recent', `max_over_time(${good}[1h:1m])`),
    ...(busy === '' ? [] : [named('limit', `max_over_time${atLimit} and count_over_time${atLimit} >= 5`)]),
  ];
  return parts.join(' or ');
}

function named(part: string, query: string): string {
  return `label_replace(${query}, "${PART}", "${part}", "", "")`;
}

/** Returns a query for the number of ready pods. Without kube-state-metrics, all scraped pods count as ready. */
function readyPods({ namespace, spec }: Scaler): string {
  const { kind, name } = spec.scaleTargetRef;
  const inNamespace = `namespace=${stringLiteral(namespace)}`;
  const up = `sum(max_over_time(up{${inNamespace}, pod=~${stringLiteral(podsPattern(kind, name))}}[10m]))`;
  const metric = READY_METRICS.get(kind);
  if (metric === undefined) return up;
  const labels = `${inNamespace}, ${kind.toLowerCase()}=${stringLiteral(name)}`;
  return `(max(max_over_time(${metric}{${labels}}[10m])) or ${up})`;
}

const READY_METRICS: ReadonlyMap<string, string> = new Map([
  ['Deployment', 'kube_deployment_status_replicas_ready'],
  ['StatefulSet', 'kube_statefulset_status_replicas_ready'],
]);
