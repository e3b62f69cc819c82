import { decide } from '../../../decision/decide.js';
import type { Decision } from '../../../decision/result/decision.js';
import { decisionToJson } from '../../../decision/result/write-json.js';
import { errorSample } from '../../../decision/snapshot/judge-sample.js';
import type { Sample, Snapshot } from '../../../decision/snapshot/snapshot.js';
import { parseScaler } from '../../../scaler/read/parse-scaler.js';
import type { MetricSpec, Scaler } from '../../../scaler/spec.js';
import type { SnapshotAnswer } from '../../../api/answers.js';
import { type PastDecision, readSnapshot } from '../model/answers.js';
import { isSame } from '../../../scaler/field-changes.js';

/** A problem of a document, with the message that `promscaler validate` prints. */
export interface DocumentProblem {
  readonly severity: 'error' | 'warning';
  readonly code: string;
  readonly message: string;
  /** Path of the field, such as `spec.metrics[0].pods.query`; empty: the whole document. */
  readonly path: string;
}

export interface WhatIf {
  /** The decision; null: the document has an error, or the snapshot cannot be read. */
  readonly decision: PastDecision | null;
  readonly problems: readonly DocumentProblem[];
  /** What this decision does not take into account. */
  readonly notes: readonly string[];
}

/**
 * Decides on a snapshot of the API with another document. Problems that the document of the snapshot has, too, are not
 * reported, because the service has accepted them. Problems that depend on the data sources are not found, because the
 * page does not know the data sources.
 */
export function decideWith(snapshotJson: SnapshotAnswer, document: unknown): WhatIf {
  const known = new Set(parseScaler(snapshotJson.scaler).problems.map(keyOf));
  const { scaler, problems } = parseScaler(document);
  const shown = problems
    .filter((problem) => !known.has(keyOf(problem)))
    .map(({ severity, code, message, path }) => ({ severity, code, message, path }));
  if (scaler === null || shown.some(({ severity }) => severity === 'error'))
    return { decision: null, problems: shown, notes: [] };
  const given = readSnapshot(snapshotJson);
  if (typeof given === 'string')
    return { decision: null, problems: [unreadable(given), ...shown], notes: [] };
  const samples = samplesFor(scaler.spec.metrics, given);
  const limited = isOtherCeiling(scaler, given)
    ? { ...scaler, spec: { ...scaler.spec, maxReplicasFrom: null } }
    : scaler;
  const made = decide({ ...given, scaler: limited, samples });
  return {
    decision: toPast(made),
    problems: shown,
    notes: notesOn(given, { scaler, samples, limits: made.limits }),
  };
}

function keyOf({ code, path, message }: DocumentProblem): string {
  return JSON.stringify([code, path, message]);
}

function unreadable(message: string): DocumentProblem {
  return { severity: 'error', code: 'snapshot', message, path: '' };
}

/** Converts a decision to the form of the API. The cast is safe, because the API sends the same JSON. */
function toPast(decision: ReturnType<typeof decide>): PastDecision {
  return decisionToJson(decision) as unknown as PastDecision;
}

/**
 * Returns the samples for the metrics. A metric with a new query gets `NOT_QUERIED`, because the snapshot has no answer
 * to the query.
 */
function samplesFor(metrics: readonly MetricSpec[], { scaler, samples }: Snapshot): readonly Sample[] {
  const known = scaler.spec.metrics;
  const isUnchanged =
    metrics.length === known.length &&
    metrics.every((metric, index) => {
      const other = known[index];
      return other !== undefined && isSameQuery(metric, other);
    });
  if (isUnchanged) return samples;
  return metrics.map(
    (metric) => samples[known.findIndex((other) => isSameQuery(metric, other))] ?? NOT_QUERIED,
  );
}

const NOT_QUERIED: Sample = errorSample('missing', 'this snapshot has no answer to this query');

/**
 * Returns whether `maxReplicasFrom` differs from `maxReplicasFrom` in the snapshot, so that the snapshot has no value
 * for it.
 */
function isOtherCeiling({ spec }: Scaler, { scaler }: Snapshot): boolean {
  const { maxReplicasFrom } = spec;
  return maxReplicasFrom !== null && !isSame(maxReplicasFrom, scaler.spec.maxReplicasFrom);
}

/**
 * Returns whether the sample of metric `b` has all answers that metric `a` needs: the queries of `a` must equal the
 * queries of `b`, but `a` may lack an additional query.
 */
export function isSameQuery(a: MetricSpec, b: MetricSpec): boolean {
  if (a.type !== b.type || a.source !== b.source) return false;
  const known = sideQueries(b);
  if (sideQueries(a).some((query, index) => query !== undefined && !isSame(query, known[index])))
    return false;
  if (a.type === 'Resource' || b.type === 'Resource') return a.name === b.name;
  if (a.type === 'ContainerResource' || b.type === 'ContainerResource') return a.identity === b.identity;
  return a.query === b.query && isSame(a.selector, b.selector);
}

/** Returns the additional queries of a metric; undefined: the metric has no such query. */
function sideQueries(metric: MetricSpec): readonly unknown[] {
  if (metric.type === 'Resource') return [metric.saturation?.servedQuery];
  if (metric.type !== 'Object' && metric.type !== 'External') return [];
  const { guard, freshness, backlog, capacityQuery, autoCapacity } = metric;
  const { servedQuery, errorsQuery } = autoCapacity ?? {};
  const capacity = [capacityQuery, servedQuery, errorsQuery];
  return [guard ?? undefined, freshness ?? undefined, backlog?.query, ...capacity];
}

function notesOn(
  given: Snapshot,
  { scaler, samples, limits }: Pick<Snapshot, 'scaler' | 'samples'> & Pick<Decision, 'limits'>,
): readonly string[] {
  const isLonger = longestWindow(scaler.spec) > longestWindow(given.scaler.spec);
  return [
    ...(samples.includes(NOT_QUERIED)
      ? ['A metric with another query has no value here: the snapshot has no answer to this query.']
      : []),
    ...(isOtherCeiling(scaler, given)
      ? ['maxReplicasFrom with another query limits nothing here: the snapshot has no answer to this query.']
      : []),
    ...(limits.some(({ limit }) => limit === 'stabilization' || limit === 'downscale_confirmation')
      ? ['The earlier recommendations within the window were made with the real document.']
      : []),
    ...(isLonger
      ? [
          'A longer window sees only the recommendations and changes that the service has kept for the shorter window.',
        ]
      : []),
  ];
}

function longestWindow({
  behavior,
  downscaleStabilizationSeconds,
  downscaleConfirmation,
}: Snapshot['scaler']['spec']): number {
  const rules = behavior === null ? [] : [behavior.scaleUp, behavior.scaleDown];
  return Math.max(
    behavior === null ? downscaleStabilizationSeconds : 0,
    downscaleConfirmation?.seconds ?? 0,
    ...rules.flatMap(({ stabilizationWindowSeconds, policies }) => [
      stabilizationWindowSeconds,
      ...policies.map(({ periodSeconds }) => periodSeconds),
    ]),
  );
}
