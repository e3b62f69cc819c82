import { endedWithin, type Clock } from '../units/clock.js';

export interface TermPorts {
  readonly clock: Clock;
  /** Reads the state store again: another replica may have led since the last read. */
  readonly reloadState: () => Promise<void>;
  readonly runController: (signal: AbortSignal) => Promise<void>;
  /** Never rejects. */
  readonly pollStatuses: (signal: AbortSignal) => Promise<void>;
  /** Never rejects. */
  readonly recommend: (signal: AbortSignal) => Promise<void>;
  readonly flushState: () => Promise<void>;
  /** Removes all scalers from ledger and metrics, because the next leader exposes them. */
  readonly forgetScalers: () => void;
}

/**
 * How long the end of a term waits for the state to be written. If the write takes longer, the next leader still finds
 * each change of replicas, because a change is stored before its PATCH.
 */
const FLUSH_MS = 3000;

/** Does the work of a leader until `signal` is aborted. Then it writes the state, for at most 3 s. */
export async function runTerm(ports: TermPorts, signal: AbortSignal): Promise<void> {
  const statuses = ports.pollStatuses(signal);
  const recommending = ports.recommend(signal);
  try {
    await ports.reloadState();
    await ports.runController(signal);
  } finally {
    await statuses;
    await recommending;
    await endedWithin(ports.clock, FLUSH_MS, ports.flushState());
    ports.forgetScalers();
  }
}
