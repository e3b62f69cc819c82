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
  /** Aborted by SIGINT or SIGTERM, or when nobody reads standard output any more; by SIGHUP while something is guarded. */
  readonly signal: AbortSignal;
  /** Where warnings and faults of the process go from now on; left out: nobody listens to them. */
  readonly onFault?: (listener: FaultListener) => void;
  /** What the user typed to start this program: `promscaler`, or `node PATH`; left out: `promscaler`. */
  readonly command?: string;
  /**
   * Until the answer is called, `clean` is called should the process end without waiting for the command. It must be
   * done when it returns.
   */
  readonly guard?: (clean: () => void) => () => void;
}

/** Something that Node tells of the process. */
export interface Fault {
  /** fatal: an exception that nobody caught; the process ends. */
  readonly kind: 'warning' | 'fatal';
  readonly error: Error;
}

export type FaultListener = (fault: Fault) => void;

export interface OutputStream {
  readonly isTerminal: boolean;
  /** Lines that the terminal shows now; left out, undefined or 0: not known. */
  readonly rows?: () => number | undefined;
  /** Characters of a line, likewise. */
  readonly columns?: () => number | undefined;
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
