import { isHeldBack, isSameOutcome, rescaleDirection, type CycleRecord } from '../telemetry/cycle-record.js';
import { endedWithin, sleep, periodicYield, type Clock } from '../units/clock.js';
import type { Log } from '../units/log.js';
import { formatRecordLine } from './record-line.js';

/** Writes decisions to a file. Never delays or fails its caller: decisions that cannot be written are only counted. */
export interface DecisionRecord {
  /** Adds a decision. `before` is the previous record of the scaler; null: there is none. */
  readonly add: (record: CycleRecord, before: CycleRecord | null) => void;
  /** Writes the waiting decisions, for at most 2 s. */
  readonly close: () => Promise<void>;
}

interface RecordReport {
  readonly countWritten: (decisions: number) => void;
  readonly countDropped: (decisions: number) => void;
  readonly countWriteError: () => void;
}

interface DecisionRecordOptions {
  readonly path: string;
  /** `changes`: only decisions that change replicas, or would do so without a hold. */
  readonly which: 'changes' | 'all';
  readonly maxFileBytes: number;
  /** Appends complete lines. If the promise is rejected, the file must be unchanged. */
  readonly append: (lines: Uint8Array) => Promise<void>;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly report: RecordReport;
}

/** Limits the estimated memory of waiting decisions. The lines are built only when they are written. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024;
const BATCH_BYTES = 1024 * 1024;
const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 30_000;
const CLOSE_MS = 2000;

interface Batch {
  readonly lines: Uint8Array;
  readonly count: number;
}

export function createDecisionRecord(options: DecisionRecordOptions): DecisionRecord {
  const { path, which, append, clock, log, report } = options;
  const waiting: { readonly record: CycleRecord; readonly bytes: number }[] = [];
  const closing = new AbortController();
  let waitingBytes = 0;
  let isFailing = false;
  let droppedSinceFailure = 0;
  let writing: Promise<void> | null = null;

  const drop = (count: number): void => {
    droppedSinceFailure += count;
    report.countDropped(count);
  };

  const lineOf = (record: CycleRecord): Uint8Array | null => {
    try {
      return Buffer.from(`${formatRecordLine(record, options.version)}\n`);
    } catch (error) {
      log.error('failed to write decision: internal error', { scaler: record.scaler.key, error });
      return null;
    }
  };

  const nextBatch = async (): Promise<Batch> => {
    const yieldIfDue = periodicYield(clock);
    const lines: Uint8Array[] = [];
    const limit = Math.min(BATCH_BYTES, options.maxFileBytes);
    let bytes = 0;
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      const line = lineOf(next.record);
      if (line !== null && lines.length > 0 && bytes + line.length > limit) break;
      waiting.shift();
      waitingBytes -= next.bytes;
      if (line !== null && line.length < options.maxFileBytes) {
        lines.push(line);
        bytes += line.length;
      } else drop(1);
      await yieldIfDue();
    }
    return { lines: Buffer.concat(lines), count: lines.length };
  };

  const failed = (error: unknown): void => {
    report.countWriteError();
    if (!isFailing) log.warn('failed to write decision record; retrying', { path, error });
    isFailing = true;
  };

  const succeeded = (count: number): void => {
    report.countWritten(count);
    if (isFailing) log.info('decision record is written again', { path, dropped: droppedSinceFailure });
    isFailing = false;
    droppedSinceFailure = 0;
  };

  /** Writes a batch. Retries until it succeeds or the record is closed, so that a short failure loses nothing. */
  const write = async ({ lines, count }: Batch): Promise<void> => {
    for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(2 * retryMs, MAX_RETRY_MS)) {
      try {
        await append(lines);
        succeeded(count);
        return;
      } catch (error) {
        failed(error);
        if (closing.signal.aborted) {
          drop(count);
          return;
        }
        await sleep(clock, retryMs, closing.signal);
      }
    }
  };

  const writeAll = async (): Promise<void> => {
    // Yields first: the cycle that has added a decision continues before any line is built.
    await sleep(clock, 0);
    while (waiting.length > 0) {
      const batch = await nextBatch();
      if (batch.count > 0) await write(batch);
    }
    writing = null;
  };

  return {
    add: (record, before) => {
      if (which === 'changes' && !isChange(record, before)) return;
      const bytes = estimateBytes(record);
      if (waitingBytes + bytes > MAX_WAITING_BYTES) {
        drop(1);
        return;
      }
      waiting.push({ record, bytes });
      waitingBytes += bytes;
      writing ??= writeAll();
    },
    close: async () => {
      closing.abort();
      if (writing !== null) await endedWithin(clock, CLOSE_MS, writing);
    },
  };
}

/**
 * Returns whether a record is a change. A change that is held in each round, as in a dry run, is recorded only once.
 */
function isChange({ outcome }: CycleRecord, before: CycleRecord | null): boolean {
  if (rescaleDirection(outcome) !== null || outcome.kind === 'failed' || outcome.kind === 'conflict')
    return true;
  return isHeldBack(outcome) && !isSameOutcome(before?.outcome, outcome);
}

const RECORD_BYTES = 4096;
const POD_BYTES = 400;

/** Estimates the size in bytes: each sample and each result has an entry per pod. */
function estimateBytes({ snapshot }: CycleRecord): number {
  if (snapshot === null) return RECORD_BYTES;
  return RECORD_BYTES + POD_BYTES * snapshot.pods.length * (1 + snapshot.samples.length);
}
