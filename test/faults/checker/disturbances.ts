import type { Fault } from '../world/faults.js';
import type { History, Target } from './history.js';

/** A span of time in which something that a scaler depends on was not as it should be. */
export interface Disturbance {
  readonly startMs: number;
  readonly endMs: number;
}

/** A process is itself again this long after its start. */
const START_MS = 5000;

/** What disturbed one scaler: faults of its own sources and target, of the API, and of the processes. */
export function disturbancesOf(history: History, target: Target): readonly Disturbance[] {
  const faults = history.faults.filter((fault) => touches(fault, target));
  const starts = history.processes.map(({ startMs }) => ({ startMs, endMs: startMs + START_MS }));
  const ends = history.processes.flatMap(({ endMs }) =>
    endMs === null ? [] : [{ startMs: endMs, endMs: endMs + START_MS }],
  );
  const changes = history.documents
    .filter(({ scaler, atMs }) => scaler === target.scaler && atMs > 0)
    .map(({ atMs }) => ({ startMs: atMs, endMs: atMs }));
  return [...faults, ...starts, ...ends, ...changes].sort((a, b) => a.startMs - b.startMs);
}

function touches(fault: Fault, { plan }: Target): boolean {
  switch (fault.kind) {
    case 'api':
      return fault.group !== 'events';
    case 'watch':
      return true;
    case 'source':
      return plan.metrics.some(({ source }) => source === fault.source);
    case 'world':
      return ['crash', 'stopped', 'restart', 'clock-jump', 'compaction'].includes(fault.what.mode)
        ? true
        : fault.target === plan.name;
    default:
      return fault satisfies never;
  }
}

/** Whether nothing disturbed between two times. */
export function isCalm(disturbances: readonly Disturbance[], fromMs: number, toMs: number): boolean {
  return !disturbances.some(({ startMs, endMs }) => startMs <= toMs && endMs >= fromMs);
}
