import { createHash } from 'node:crypto';
import type { OverviewRow } from '../../api/answers.js';
import type { RecentRange } from '../../telemetry/chart-points.js';
import { boundsOf, desiredReplicasOf } from '../../telemetry/cycle-record.js';
import type { Problem } from '../../scaler/problems/problem.js';
import type { LedgerEntry } from '../../telemetry/ledger.js';
import { currentValue, type InvalidScaler, targetValue } from '../../telemetry/scaler-series.js';
import { errorsByScaler } from '../../telemetry/rejections.js';
import { cleanText } from '../../units/clean-text.js';
import { type Clock, periodicYield } from '../../units/clock.js';
import { type Instant, instantOrNull } from '../../units/time.js';
import type { Viewer } from '../access/viewer.js';
import { SLICE_MS } from '../pacing/paced.js';
import type { ScalerPageParts } from '../pages/scaler-pages.js';
import { metricUnit, viewProblems, viewState } from '../pages/views.js';

/** The rows of a replica that a client does not have yet. */
export interface OverviewPart {
  /** Passed as `since` in the next request to the same replica. */
  readonly revision: string;
  /** False: `rows` and `removed` are only the changes since the revision of the request. */
  readonly isComplete: boolean;
  /** Maps `NAMESPACE/NAME` to the row as JSON, in this order. */
  readonly rows: ReadonlyMap<string, string>;
  readonly removed: readonly string[];
}

export interface OverviewQuery {
  /** The revision that the client has; null or an unknown revision: the client gets all rows. */
  readonly since: string | null;
  readonly namespace: string | null;
  readonly viewer: Viewer;
}

interface OverviewRows {
  /** Updates the rows, yielding to other work, and returns the rows of the query. */
  readonly read: (query: OverviewQuery) => Promise<OverviewPart>;
}

interface KnownRow {
  readonly namespace: string;
  readonly json: string;
  readonly state: LedgerEntry['shownState'];
  readonly stateSince: Instant;
  readonly replicas: RecentReplicas;
  /** The revision that last changed the row. */
  readonly changed: number;
}

/** How many removals are remembered. A client that has missed more of them gets all rows. */
const MAX_REMOVED = 1000;

/**
 * Keeps the row of each scaler as JSON. A row is built again only after a cycle of the scaler or a reload of its
 * document. The revision is the number of updates that have changed a row. A document without a valid version has a
 * row, too.
 */
export function createOverviewRows(
  parts: Pick<ScalerPageParts, 'ledger' | 'chartPoints' | 'grouping' | 'invalid' | 'problems'> & {
    readonly clock: Clock;
  },
): OverviewRows {
  const { ledger, chartPoints, grouping, invalid, problems, clock } = parts;
  // The random digits distinguish two processes that start in the same millisecond.
  const run = `${clock.now().toString(36)}${Math.floor(clock.random() * 36 ** 4).toString(36)}`;
  const rows = new Map<string, KnownRow>();
  /**
   * Entries whose row is current. The references are weak, because the entries contain snapshots, which would stay in
   * memory.
   */
  const seen = new WeakSet<LedgerEntry>();
  let sorted: readonly string[] = [];
  let removed: readonly Removal[] = [];
  let revision = 0;
  /** Some removals up to this revision are forgotten, so clients with an older revision get all rows. */
  let floor = 0;
  let last: Promise<unknown> = Promise.resolve();

  const update = async (): Promise<void> => {
    const yieldIfDue = periodicYield(clock, SLICE_MS);
    const next = revision + 1;
    for (const status of [...ledger.list()]) {
      const { key } = status;
      const known = rows.get(key) ?? null;
      const isSameState = known?.state === status.shownState && known.stateSince === status.stateSince;
      if (seen.has(status) && isSameState) continue;
      seen.add(status);
      const replicas = replicasOf(status, known?.replicas ?? null, chartPoints);
      const json = cleanText(JSON.stringify(viewRow(status, { replicas: replicas.counts, grouping })));
      const isSame = known?.json === json;
      if (!isSame) revision = next;
      if (!isSame || known.replicas !== replicas || !isSameState)
        rows.set(key, {
          namespace: status.scaler.namespace,
          json,
          state: status.shownState,
          stateSince: status.stateSince,
          replicas,
          changed: isSame ? known.changed : next,
        });
      await yieldIfDue();
    }
    const withoutVersion = new Set<string>();
    const unserved = invalid();
    const errors = errorsByScaler(unserved.length === 0 ? [] : problems());
    for (const one of unserved) {
      const { namespace, name, state } = one;
      const key = `${namespace}/${name}`;
      // As long as the ledger has the previous version, the row shows that version.
      if (ledger.get(key) !== null) continue;
      withoutVersion.add(key);
      const known = rows.get(key);
      const json = cleanText(JSON.stringify(viewInvalid(one, errors.get(key) ?? [], ledger)));
      if (known?.json === json) continue;
      revision = next;
      const stateSince = ledger.rejectedSince(key) ?? clock.now();
      rows.set(key, { namespace, json, state, stateSince, replicas: NO_REPLICAS, changed: next });
      await yieldIfDue();
    }
    const gone = [...rows].filter(([key]) => ledger.get(key) === null && !withoutVersion.has(key));
    for (const [key] of gone) rows.delete(key);
    if (gone.length > 0) revision = next;
    const removals = gone.map(([key, { namespace }]) => ({ key, namespace, revision: next }));
    const all = [...removed, ...removals];
    floor = all.at(-MAX_REMOVED - 1)?.revision ?? floor;
    removed = all.slice(-MAX_REMOVED);
    if (rows.size !== sorted.length || removals.length > 0) sorted = [...rows.keys()].sort();
  };

  const collect = (query: OverviewQuery): OverviewPart => {
    const { namespace, viewer } = query;
    const [prefix, suffix] = [`${run}.`, `.${scopeOf(query)}`];
    const since = revisionIn(query.since, { prefix, suffix });
    const isComplete = since === null || since < floor || since > revision;
    const isWanted = (name: string): boolean =>
      (namespace === null || name === namespace) && viewer.sees(name);
    const wanted = new Map<string, string>();
    for (const key of sorted) {
      const row = rows.get(key);
      if (row !== undefined && (isComplete || row.changed > since) && isWanted(row.namespace))
        wanted.set(key, row.json);
    }
    const lost = isComplete ? [] : removed.filter((one) => one.revision > since && isWanted(one.namespace));
    return {
      revision: `${prefix}${revision}${suffix}`,
      isComplete,
      rows: wanted,
      // A scaler that was removed and added again has a row and must not be removed.
      removed: [...new Set(lost.map(({ key }) => key))].filter((key) => !rows.has(key)),
    };
  };

  return {
    read: (query) => {
      // One update runs at a time: otherwise a client could get the revision of an update that is not complete.
      const reading = last.then(update).then(() => collect(query));
      last = reading.catch(() => undefined);
      return reading;
    },
  };
}

interface RecentReplicas {
  readonly step: number;
  readonly counts: readonly (number | null)[];
}

/**
 * Returns the replicas of the last two hours. Within a step of five minutes, a cycle can change only the last count, so
 * the others are reused.
 */
function replicasOf(
  { key, record: { at, decision } }: LedgerEntry,
  known: RecentReplicas | null,
  chartPoints: Pick<ScalerPageParts['chartPoints'], 'recentReplicas'>,
): RecentReplicas {
  const step = rowStep(at);
  if (known?.step !== step) return { step, counts: chartPoints.recentReplicas(key, rowRange(at)) };
  const current = decision?.currentReplicas ?? null;
  return known.counts.at(-1) === current ? known : { step, counts: [...known.counts.slice(0, -1), current] };
}

const NO_REPLICAS: RecentReplicas = { step: -1, counts: [] };

interface Removal {
  readonly key: string;
  readonly namespace: string;
  readonly revision: number;
}

/**
 * Returns a string that identifies the filter and the permissions. A revision is valid only for the same filter and
 * permissions: otherwise the client also needs rows that have not changed.
 */
function scopeOf({ namespace, viewer }: OverviewQuery): string {
  if (namespace === null && viewer.seesAll) return 'all';
  return createHash('sha256')
    .update(`${namespace ?? '*'}\n${viewer.scope}`)
    .digest('hex')
    .slice(0, 12);
}

function revisionIn(
  since: string | null,
  { prefix, suffix }: { readonly prefix: string; readonly suffix: string },
): number | null {
  if (since === null || !since.startsWith(prefix) || !since.endsWith(suffix)) return null;
  const number = since.slice(prefix.length, -suffix.length);
  return /^\d{1,15}$/.test(number) ? Number(number) : null;
}

const STEP_SECONDS = 300;
/** The number of steps, which cover two hours. */
const STEPS = 24;

/** Returns the time range of the replicas in a row: the two hours before its cycle. */
export function rowRange(until: Instant): RecentRange {
  return { until, stepSeconds: STEP_SECONDS, steps: STEPS };
}

/** Returns the number of the step that contains this time, counted from the epoch. */
function rowStep(at: Instant): number {
  return Math.floor(at / (1000 * STEP_SECONDS));
}

export function viewRow(
  status: LedgerEntry,
  { replicas, grouping }: Pick<OverviewRow, 'replicas'> & Pick<ScalerPageParts, 'grouping'>,
): OverviewRow {
  const { scaler, record, lastRescale } = status;
  const { decision } = record;
  const bounds = boundsOf(record);
  const { kind, name } = scaler.spec.scaleTargetRef;
  const { up, down } = lastRescale;
  const group = grouping?.of(scaler) ?? null;
  const changedAt = up === null || (down !== null && down > up) ? down : up;
  return {
    namespace: scaler.namespace,
    name: scaler.name,
    kind,
    target: name,
    current: decision?.currentReplicas ?? null,
    desired: desiredReplicasOf(record),
    min: bounds.minReplicas,
    max: bounds.maxReplicas,
    state: viewState(status.shownState, status.stateSince),
    metric: viewLeadingMetric(status),
    ...(group === null ? {} : { group }),
    metrics: scaler.spec.metrics.length,
    changedAt: instantOrNull(changedAt),
    replicas,
  };
}

/** Returns the row of a document without a valid version. Only its name, its state and its problems are known. */
function viewInvalid(
  { namespace, name, state }: InvalidScaler,
  errors: readonly Problem[],
  { rejectedSince }: ScalerPageParts['ledger'],
): OverviewRow {
  const since = rejectedSince(`${namespace}/${name}`);
  return {
    namespace,
    name,
    kind: null,
    target: null,
    current: null,
    desired: null,
    min: null,
    max: null,
    state: { ...state, since: instantOrNull(since), until: null },
    metric: null,
    metrics: 0,
    changedAt: null,
    replicas: [],
    rejections: viewProblems(errors, rejectedSince),
  };
}

/** Returns the metric that determines the recommendation: the first metric with the largest proposal. */
function viewLeadingMetric({ scaler, record }: LedgerEntry): OverviewRow['metric'] {
  const results = record.decision?.metrics ?? [];
  let leading = -1;
  let largest = -1;
  results.forEach(({ proposal }, index) => {
    if (proposal === null || proposal <= largest) return;
    largest = proposal;
    leading = index;
  });
  const spec = scaler.spec.metrics[leading];
  if (spec === undefined) return null;
  return {
    name: spec.identity,
    unit: metricUnit(spec),
    value: currentValue(spec, results[leading]),
    target: targetValue(spec, results[leading]),
  };
}
