import type { CommandIo, OutputStream } from '../io.js';
import { DEMO_SCALERS } from './workloads.js';

/** Keeps the story back until there is something to look at: a first decision on each scaler. */
export interface Opening {
  /** Where the story is told. */
  readonly stdout: OutputStream;
  /** A cycle of a scaler has ended; true for the one that opens the demo. */
  readonly see: (scaler: string) => boolean;
  /** Writes the introduction and what was kept back, unless it is done already. */
  readonly open: () => void;
}

/** Makes the opening of a demo with this introduction. */
export function createOpening({ stdout }: Pick<CommandIo, 'stdout'>, introduction: string): Opening {
  let waiting: string[] | null = [];
  const seen = new Set<string>();
  const open = (): void => {
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
    see: (scaler) => {
      seen.add(scaler);
      if (waiting === null || seen.size < DEMO_SCALERS) return false;
      open();
      return true;
    },
    open,
  };
}

/** Standard error without the log lines on refused documents, which the story tells in its own words. */
export function withoutRefusals(stderr: OutputStream): OutputStream {
  return {
    ...stderr,
    write: (text) => {
      if (!text.includes(' document rejected')) stderr.write(text);
    },
  };
}
