import { rescaleDirection } from '../../telemetry/cycle-record.js';
import type { Outcome } from '../../telemetry/cycle-record.js';
import type { ScalerStatus } from '../../telemetry/ledger.js';
import { laterOf } from '../../units/time.js';
import type { Instant } from '../../units/time.js';
import type { Viewer } from '../access/viewer.js';

/** The state of the service that follows from all scalers. */
export interface Survey {
  /** Number of scalers that the viewer sees. */
  readonly scalers: number;
  /** Data source -> latest end of a recovery hold of the scalers that query it. */
  readonly holds: ReadonlyMap<string, Instant>;
  /** Data source -> number of these scalers that have no fallback and query only it. */
  readonly dependents: ReadonlyMap<string, number>;
  /** At most `MOST_CONFLICTS`. */
  readonly conflicts: readonly {
    readonly namespace: string;
    readonly name: string;
    readonly message: string;
  }[];
  /** The newest changes of replicas, newest first. */
  readonly outcomes: readonly LastOutcome[];
}

export interface LastOutcome {
  readonly namespace: string;
  readonly name: string;
  readonly at: Instant;
  readonly outcome: Outcome;
}

export const MOST_OUTCOMES = 20;
export const MOST_CONFLICTS = 100;
/** Number of scalers that take about 50 µs. */
const LOOKED_AT_ONCE = 32;

/** Reads one scaler after the other. `takeTurn` yields to other work between them. */
export async function surveyScalers(
  statuses: Iterable<ScalerStatus>,
  {
    now,
    viewer,
    takeTurn,
  }: { readonly now: Instant; readonly viewer: Viewer; readonly takeTurn: () => Promise<void> },
): Promise<Survey> {
  const holds = new Map<string, Instant>();
  const dependents = new Map<string, number>();
  const conflicts: Survey['conflicts'][number][] = [];
  const outcomes = createNewest();
  let scalers = 0;
  let seen = 0;
  // Iterates over a copy, because scalers may be added and removed meanwhile.
  for (const status of [...statuses]) {
    addHold(holds, status, now);
    const { namespace, name } = status.scaler;
    if (viewer.sees(namespace)) {
      scalers += 1;
      const source = onlySourceOf(status);
      if (source !== null) dependents.set(source, (dependents.get(source) ?? 0) + 1);
      const { name: state, cause } = status.state;
      if (state === 'Conflict' && conflicts.length < MOST_CONFLICTS)
        conflicts.push({ namespace, name, message: cause ?? '' });
      outcomes.add(status);
    }
    seen += 1;
    if (seen % LOOKED_AT_ONCE === 0) await takeTurn();
  }
  return { scalers, holds, dependents, conflicts, outcomes: outcomes.read() };
}

function addHold(holds: Map<string, Instant>, { scaler, record }: ScalerStatus, now: Instant): void {
  const until = record.decision?.state.holdScaleDownUntil ?? null;
  if (until === null || until <= now) return;
  for (const { source } of scaler.spec.metrics) {
    const latest = laterOf(holds.get(source) ?? null, until);
    if (latest !== null) holds.set(source, latest);
  }
}

/** Returns the data source without which the scaler keeps its replicas; null: there is no such source. */
function onlySourceOf({ scaler: { spec } }: ScalerStatus): string | null {
  const [first] = spec.metrics;
  if (first === undefined || spec.fallback !== null) return null;
  return spec.metrics.every(({ source }) => source === first.source) ? first.source : null;
}

interface Newest {
  readonly add: (status: ScalerStatus) => void;
  readonly read: () => readonly LastOutcome[];
}

/** Keeps a multiple of the needed number, and sorts only when it is full. */
function createNewest(): Newest {
  let found: LastOutcome[] = [];
  let leastAt = -Infinity;
  return {
    add: ({ scaler: { namespace, name }, history }) => {
      for (const { lastAt: at, outcome } of history) {
        if (at < leastAt) break;
        if (rescaleDirection(outcome) === null) continue;
        found.push({ namespace, name, at, outcome });
        if (found.length < 2 * MOST_OUTCOMES) continue;
        found = newest(found);
        leastAt = found.at(-1)?.at ?? leastAt;
      }
    },
    read: () => newest(found),
  };
}

function newest(outcomes: readonly LastOutcome[]): LastOutcome[] {
  return [...outcomes].sort((a, b) => b.at - a.at).slice(0, MOST_OUTCOMES);
}
