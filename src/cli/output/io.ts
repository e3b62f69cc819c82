import type { Clock } from '../../units/clock.js';

/** 0: success; 1: a problem was found or a request failed; 2: invalid usage. */
export type ExitCode = 0 | 1 | 2;

/** Parts of the process that commands may use. */
export interface CommandIo {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly readStdin: () => Promise<string>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly clock: Clock;
  /**
   * Aborted by SIGINT, SIGTERM or a closed standard output, and by SIGHUP while a cleanup is registered with `guard`.
   */
  readonly signal: AbortSignal;
  /** Only a service sets a listener: other commands end at an unhandled rejection. */
  readonly onFault?: (listener: FaultListener) => void;
  /** Command line of this program, such as `promscaler` or `node PATH`. Output names it with `nameProgram`. */
  readonly command: string;
  /** Registers a synchronous cleanup for an exit before the command returns. Returns a function that unregisters it. */
  readonly guard?: (clean: () => void) => () => void;
}

interface Fault {
  /**
   * `rejection`: an unhandled promise rejection; the service continues. `fatal`: an uncaught exception; the
   * service then stops as after SIGTERM, with exit code 1.
   */
  readonly kind: 'warning' | 'rejection' | 'fatal';
  readonly error: Error;
}

export type FaultListener = (fault: Fault) => void;

export interface OutputStream {
  readonly isTerminal: boolean;
  /** Number of lines; undefined or 0: unknown. */
  readonly rows?: () => number | undefined;
  /** Number of characters; undefined or 0: unknown. */
  readonly columns?: () => number | undefined;
  readonly write: (text: string) => void;
}

/** Ends the command. Prints the message on standard error, without a stack. */
export class CommandError extends Error {
  override name = 'CommandError';
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

export function usageError(message: string): CommandError {
  return new CommandError(message, 2);
}
