import type { Clock } from '../units/clock.js';

/** 0 done; 1 the work failed: a problem was found, a server did not answer; 2 wrong usage. */
export type ExitCode = 0 | 1 | 2;

/** All that a command may touch of the process it runs in: `cli` is a function of this. */
export interface CommandIo {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** The whole of standard input. */
  readonly readStdin: () => Promise<string>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly clock: Clock;
  /** Aborted by SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
}

export interface OutputStream {
  readonly isTerminal: boolean;
  /** Lines that the terminal shows now; left out or undefined: not known. */
  readonly rows?: () => number | undefined;
  readonly write: (text: string) => void;
}

/** Ends a command with a sentence on standard error. */
export class CommandError extends Error {
  override name = 'CommandError';
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}
