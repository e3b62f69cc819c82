import type { Fault } from '../simulation/faults.js';
import type { Load } from '../simulation/load.js';
import type { ApiRecord, DecisionRecord, LogRecord, QueryRecord } from '../simulation/log.js';
import { SCRAPE_SECONDS, type WorkloadPlan } from '../simulation/scenario.js';
import type { ReplicaChange, Workload } from '../simulation/workload.js';
import type { DocumentChange, Simulation } from '../simulation/simulation.js';

/** Input of the checker: the request log, the true load and workloads, the documents. */
export interface History {
  readonly durationMs: number;
  readonly records: readonly LogRecord[];
  readonly faults: readonly Fault[];
  readonly documents: readonly DocumentChange[];
  readonly targets: readonly Target[];
  readonly processes: readonly Life[];
  /** Whether servers report their start time. */
  readonly tellsStart: boolean;
  /** Whether scale events and times survive a process, and one of several leads. */
  readonly isDurable: boolean;
  readonly isElected: boolean;
  /** Whether the processes divide the scalers among them. */
  readonly isSharded: boolean;
  /** Every accepted write that changed replicas, in the order of arrival. */
  readonly writes: readonly Write[];
  readonly byProcess: ReadonlyMap<string, ProcessRecords>;
}

/** A workload as it actually was. */
export interface Target {
  readonly scaler: string;
  readonly plan: WorkloadPlan;
  readonly load: Load;
  readonly replicas: readonly ReplicaChange[];
  readonly pods: readonly { readonly atMs: number; readonly names: readonly string[] }[];
  readonly ready: Workload['readyHistory'];
  /** Returns the value of `maxReplicasFrom`. */
  readonly ceilingAt: (atMs: number) => number;
}

/** A process from its start to its end; null: it is still alive. */
export interface Life {
  readonly name: string;
  readonly replica: number;
  readonly startMs: number;
  readonly endMs: number | null;
}

/** One accepted write of replicas. */
export interface Write {
  readonly atMs: number;
  readonly process: string;
  readonly scaler: string;
  readonly uid: string;
  readonly from: number;
  readonly to: number;
  /** Time of the decision for it: its live read, just before the change. */
  readonly decidedMs: number;
  /** Its first request after the previous decision: the instant that windows count from is not later. */
  readonly begunMs: number;
  readonly record: ApiRecord;
}

/** The records of one process, by their subject. */
export interface ProcessRecords {
  readonly scale: ReadonlyMap<string, readonly ApiRecord[]>;
  readonly decisions: ReadonlyMap<string, readonly DecisionRecord[]>;
  readonly queries: readonly QueryRecord[];
  readonly heard: ReadonlyMap<string, readonly number[]>;
  readonly requests: readonly ApiRecord[];
}

/** Sorts the records of a simulation that has run. */
export function historyOf(
  simulation: Simulation,
  run: {
    readonly durationMs: number;
    readonly faults: readonly Fault[];
    readonly isDurable: boolean;
    readonly isElected: boolean;
    readonly isSharded: boolean;
  },
): History {
  const targets = simulation.workloads.map((workload) => ({
    scaler: `${workload.plan.namespace}/${workload.plan.name}`,
    plan: workload.plan,
    load: workload.load,
    replicas: workload.history,
    pods: workload.podHistory,
    ready: workload.readyHistory,
    ceilingAt: workload.ceilingAt,
  }));
  const byProcess = groupByProcess(simulation.records);
  return {
    ...run,
    records: simulation.records,
    documents: simulation.documents,
    targets,
    tellsStart: simulation.tellsStart,
    processes: simulation.replicas.flatMap(({ number, processes }) =>
      processes.map((process) => ({
        name: process.name,
        replica: number,
        startMs: process.startedMs,
        endMs: process.endedMs,
      })),
    ),
    byProcess,
    writes: writesOf(simulation.records, byProcess),
  };
}

interface Growing {
  readonly scale: Map<string, ApiRecord[]>;
  readonly decisions: Map<string, DecisionRecord[]>;
  readonly queries: QueryRecord[];
  readonly heard: Map<string, number[]>;
  readonly requests: ApiRecord[];
}

function groupByProcess(records: readonly LogRecord[]): ReadonlyMap<string, ProcessRecords> {
  const groups = new Map<string, Growing>();
  for (const record of records) {
    let group = groups.get(record.process);
    if (group === undefined) {
      group = { scale: new Map(), decisions: new Map(), queries: [], heard: new Map(), requests: [] };
      groups.set(record.process, group);
    }
    if (record.kind === 'query') group.queries.push(record);
    if (record.kind === 'decision') push(group.decisions, record.scaler, record);
    if (record.kind === 'heard') push(group.heard, record.resource, record.atMs);
    if (record.kind !== 'api') continue;
    group.requests.push(record);
    if (record.subresource === 'scale') push(group.scale, scalerOf(record), record);
  }
  return groups;
}

function push<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

/** Returns the scaler for the target of a request: they have the same name. */
export function scalerOf({ namespace, name }: ApiRecord): string {
  return `${namespace ?? ''}/${name ?? ''}`;
}

function writesOf(
  records: readonly LogRecord[],
  byProcess: ReadonlyMap<string, ProcessRecords>,
): readonly Write[] {
  const writes: Write[] = [];
  for (const record of records) {
    if (record.kind !== 'api' || record.subresource !== 'scale' || record.written === null) continue;
    const { from, to, atMs, uid } = record.written;
    if (from === null || to === null || from === to) continue;
    const scaler = scalerOf(record);
    const own = byProcess.get(record.process);
    const turn = turnOf(own?.scale.get(scaler) ?? [], own?.decisions.get(scaler) ?? [], record);
    writes.push({ atMs, process: record.process, scaler, uid, from, to, ...turn, record });
  }
  return writes.sort((a, b) => a.atMs - b.atMs);
}

/** Returns the start of the turn of a PATCH, and the live read before its first PATCH: the time of the decision. */
function turnOf(
  requests: readonly ApiRecord[],
  decisions: readonly DecisionRecord[],
  patch: ApiRecord,
): { readonly decidedMs: number; readonly begunMs: number } {
  const sinceMs = lastBefore(decisions, patch.sentMs)?.atMs ?? 0;
  const turn = requests.filter(({ sentMs }) => sentMs >= sinceMs && sentMs <= patch.sentMs);
  const firstPatch = turn.findIndex(({ method }) => method === 'PATCH');
  const read = turn[firstPatch - 1] ?? patch;
  return { decidedMs: read.sentMs, begunMs: turn[0]?.sentMs ?? patch.sentMs };
}

/** Returns the documents of a scaler in effect within a span of time, empty if there was none. */
export function plansWithin(
  history: History,
  scaler: string,
  fromMs: number,
  toMs: number,
): readonly WorkloadPlan[] {
  const changes = history.documents.filter((change) => change.scaler === scaler);
  const plans: WorkloadPlan[] = [];
  changes.forEach(({ atMs, plan }, index) => {
    const endMs = changes[index + 1]?.atMs ?? Number.POSITIVE_INFINITY;
    if (atMs <= toMs && endMs >= fromMs && plan !== null) plans.push(plan);
  });
  return plans;
}

export function targetOf(history: History, scaler: string): Target {
  const target = history.targets.find((one) => one.scaler === scaler);
  if (target === undefined) throw new Error(`there is no target for ${scaler}`);
  return target;
}

/** Returns `spec.replicas` at a time. */
export function replicasAt({ replicas }: Target, atMs: number): number {
  return lastBefore(replicas, atMs)?.replicas ?? 0;
}

/** Returns the last entry not after `atMs`; entries are in order. */
export function lastBefore<T extends { readonly atMs: number }>(
  entries: readonly T[],
  atMs: number,
): T | null {
  return entries[countUntil(entries, atMs) - 1] ?? null;
}

/** Returns the number of entries not after `atMs`; entries are in order. */
export function countUntil(entries: readonly { readonly atMs: number }[], atMs: number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle]?.atMs ?? 0) <= atMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Returns whether a write only moves a count outside the bounds to the nearest one, which obeys no window and no sample
 * (decision 11).
 */
export function isBoundCorrection(history: History, { scaler, decidedMs, atMs, from, to }: Write): boolean {
  return plansWithin(history, scaler, decidedMs - 30_000, atMs).some(
    ({ minReplicas, maxReplicas }) =>
      (from > maxReplicas && to === maxReplicas) || (from < minReplicas && to === minReplicas),
  );
}

/** Returns the rules of a document with those of its preset, in seconds. Source: contract.md section 2. */
export function rulesOf({ preset, behavior }: WorkloadPlan): {
  readonly upWindow: number;
  readonly downWindow: number;
  readonly isSinceAny: boolean;
  readonly downStabilization: number;
} {
  const windowed = preset === 'hpa' ? null : preset === 'chpa' ? 300 : 180;
  return {
    upWindow: windowed ?? 0,
    downWindow: windowed === null ? 0 : 300,
    isSinceAny: windowed !== null,
    downStabilization: behavior?.down.stabilizationWindowSeconds ?? (windowed === null ? 300 : 0),
  };
}

/**
 * Returns the tolerance for a wall clock that was wrong, or was set, within a span of time: measurements with it may be
 * off by a minute (F48).
 */
export function clockSlackMs(history: History, fromMs: number, toMs: number): number {
  const isSet = history.faults.some(
    ({ kind, what, startMs, endMs }) =>
      kind === 'cluster' && what.mode === 'clock-jump' && startMs <= toMs + 1000 && endMs >= fromMs - 1000,
  );
  return isSet ? 60_000 : CLOCK_SLACK_MS;
}

/** The clocks of the decision and of the server are read separately. */
const CLOCK_SLACK_MS = 1500;

/**
 * Returns how long values must arrive without a gap before they can scale down, in seconds (algorithm.md, section 4).
 */
export function holdSecondsOf(metric: WorkloadPlan['metrics'][number], periodSeconds: number): number {
  return Math.min(900, Math.max(metric.windowSeconds === 0 ? 300 : metric.windowSeconds, 2 * periodSeconds));
}

/** Like `holdSecondsOf`, after a start of the process without any gap in the answers since. */
export function startHoldSecondsOf(
  { tellsStart }: Pick<History, 'tellsStart'>,
  metric: WorkloadPlan['metrics'][number],
  periodSeconds: number,
): number {
  if (!tellsStart || metric.windowSeconds > 0) return holdSecondsOf(metric, periodSeconds);
  return Math.max(2 * SCRAPE_SECONDS, 2 * periodSeconds);
}
