import { endedWithin } from '../units/clock.js';
import type { Clock } from '../units/clock.js';

export interface TermPorts {
  readonly clock: Clock;
  /** Reads the state store again, because another replica may have been the leader since. */
  readonly reloadState: () => Promise<void>;
  readonly runController: (signal: AbortSignal) => Promise<void>;
  /** Never rejects. */
  readonly writeStatuses: (signal: AbortSignal) => Promise<void>;
  readonly flushState: () => Promise<void>;
  /** Removes all scalers from ledger and metrics, because the next leader exposes them. */
  readonly forgetScalers: () => void;
}

/** If the state store is slower than this, the next leader still finds the intents, which were stored earlier. */
const FLUSH_MS = 3000;

/** Does the work of a leader for one term, until `signal` is aborted; then flushes the state, for at most 3 s. */
export async function runTerm(ports: TermPorts, signal: AbortSignal): Promise<void> {
  const statuses = ports.writeStatuses(signal);
  try {
    await ports.reloadState();
    await ports.runController(signal);
  } finally {
    await statuses;
    await endedWithin(ports.clock, FLUSH_MS, ports.flushState());
    ports.forgetScalers();
  }
}
