import type { Clock } from '../units/clock.js';

/** 0: success; 1: a problem was found or a request failed; 2: wrong usage. */
export type ExitCode = 0 | 1 | 2;

/** The parts of the process that a command may use. */
export interface CommandIo {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** The whole of standard input. */
  readonly readStdin: () => Promise<string>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly clock: Clock;
  /** Aborted by SIGINT, SIGTERM, a closed standard output, and by SIGHUP while a cleanup is registered with `guard`. */
  readonly signal: AbortSignal;
  /** Sets the listener for warnings and uncaught exceptions of the process. */
  readonly onFault?: (listener: FaultListener) => void;
  /** How the user started this program: `promscaler` (the default) or `node PATH`. */
  readonly command?: string;
  /**
   * Registers a synchronous cleanup that is called if the process exits before the command returns. The returned function
   * unregisters it.
   */
  readonly guard?: (clean: () => void) => () => void;
}

/** A warning of Node.js or an uncaught exception. */
export interface Fault {
  /** `fatal`: an uncaught exception; the process exits. */
  readonly kind: 'warning' | 'fatal';
  readonly error: Error;
}

export type FaultListener = (fault: Fault) => void;

export interface OutputStream {
  readonly isTerminal: boolean;
  /** Height of the terminal in lines; undefined or 0: not known. */
  readonly rows?: () => number | undefined;
  /** Width of the terminal in characters; undefined or 0: not known. */
  readonly columns?: () => number | undefined;
  readonly write: (text: string) => void;
}

/** An error that ends the command: its message is printed on standard error, without a stack. */
export class CommandError extends Error {
  override name = 'CommandError';
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}
