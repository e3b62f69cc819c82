import type { Fault } from '../simulation/faults.js';
import type { History, Target } from './history.js';

/** A span of time in which a dependency of a scaler was faulty. */
export interface Disturbance {
  readonly startMs: number;
  readonly endMs: number;
}

/** A process recovers this long after its start. */
const START_MS = 5000;
/** A candidate waits for the Lease of a dead leader, and retries up to 2.2 periods apart. */
const ELECTION_MS = 25_000;
/** A denied permission is requested again after half a minute to ten minutes (reliability.md, section 1). */
const REFUSED_MS = 600_000;

/** Returns the disturbances of one scaler: faults of its own sources and target, of the API, and of the processes. */
export function disturbancesOf(history: History, target: Target): readonly Disturbance[] {
  const faults = history.faults
    .filter((fault) => touches(fault, target))
    .map((fault) => ({ startMs: fault.startMs, endMs: fault.endMs + aftermathMs(fault) }));
  const settleMs = START_MS + (history.isElected ? ELECTION_MS : 0);
  const starts = history.processes.map(({ startMs }) => ({ startMs, endMs: startMs + settleMs }));
  const ends = history.processes.flatMap(({ endMs }) =>
    endMs === null ? [] : [{ startMs: endMs, endMs: endMs + settleMs }],
  );
  const changes = history.documents
    .filter(({ scaler, atMs }) => scaler === target.scaler && atMs > 0)
    .map(({ atMs }) => ({ startMs: atMs, endMs: atMs }));
  return [...faults, ...starts, ...ends, ...changes].sort((a, b) => a.startMs - b.startMs);
}

/** Claims of a Lease that is not renewed count for a minute in each new process, until it is deleted after ten. */
const FORGED_CLAIMS_MS = 12 * 60_000;
const FORGED_MS = 75_000;

function aftermathMs(fault: Fault): number {
  if (fault.kind === 'cluster' && fault.what.mode === 'forged-leases')
    return fault.what.claims === '' ? FORGED_MS : FORGED_CLAIMS_MS;
  if (fault.kind === 'cluster' && fault.what.mode === 'api-restart') return fault.what.forbiddenMs + START_MS;
  return fault.kind === 'api' && isRefusal(fault) ? REFUSED_MS : 0;
}

/** Returns whether the permission to list or to watch is denied. */
export function isRefusal({ what, group }: Extract<Fault, { readonly kind: 'api' }>): boolean {
  return what.mode === 'status' && what.status === 403 && ['all', 'list', 'watch'].includes(group);
}

function touches(fault: Fault, { plan }: Target): boolean {
  switch (fault.kind) {
    case 'api':
      return fault.group !== 'events';
    case 'watch':
      return true;
    case 'source': {
      const { what } = fault;
      if (what.mode === 'query-missing') return plan.metrics.some(({ query }) => query.includes(what.text));
      return plan.metrics.some(({ source }) => source === fault.source);
    }
    case 'cluster':
      // Leases that claim nothing and are not renewed disturb nobody.
      if (fault.what.mode === 'forged-leases') return fault.what.isRenewed || fault.what.claims !== '';
      if (fault.what.mode === 'hostile-tenant') return false;
      return [
        'crash',
        'gone',
        'switched',
        'stopped',
        'suspended',
        'restart',
        'clock-jump',
        'compaction',
        'api-restart',
        'documents-emptied',
      ].includes(fault.what.mode)
        ? true
        : fault.target === plan.name;
    default:
      return fault satisfies never;
  }
}

/** Returns whether there was no disturbance between two times. */
export function isCalm(disturbances: readonly Disturbance[], fromMs: number, toMs: number): boolean {
  return !disturbances.some(({ startMs, endMs }) => startMs <= toMs && endMs >= fromMs);
}
