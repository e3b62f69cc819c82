import type { CommandIo, OutputStream } from '../process/io.js';
import { DEMO_SCALERS } from './workloads.js';

/** Delays the output until every scaler has a first decision. */
export interface DelayedOutput {
  readonly stdout: OutputStream;
  /** Call after each cycle of a scaler. Returns whether this cycle ends the delay. */
  readonly noteCycle: (scaler: string) => boolean;
  /** Prints the introduction and the delayed output, unless already done. */
  readonly release: () => void;
}

export function createDelayedOutput(
  { stdout }: Pick<CommandIo, 'stdout'>,
  introduction: string,
): DelayedOutput {
  let waiting: string[] | null = [];
  const seen = new Set<string>();
  const release = (): void => {
    const kept = waiting ?? [];
    if (waiting !== null) stdout.write(introduction);
    waiting = null;
    for (const text of kept) stdout.write(text);
  };
  return {
    stdout: {
      ...stdout,
      write: (text) => {
        if (waiting === null) stdout.write(text);
        else waiting.push(text);
      },
    },
    noteCycle: (scaler) => {
      seen.add(scaler);
      if (waiting === null || seen.size < DEMO_SCALERS) return false;
      release();
      return true;
    },
    release,
  };
}

/** Returns standard error without log lines for rejected documents, which the demo log prints. */
export function withoutRefusals(stderr: OutputStream): OutputStream {
  return {
    ...stderr,
    write: (text) => {
      if (!text.includes(' document rejected')) stderr.write(text);
    },
  };
}
