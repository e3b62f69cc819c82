import type { Clock } from '../../units/clock.js';

/** 0: success. 1: a problem was found, or a request failed. 2: the command was used incorrectly. */
export type ExitCode = 0 | 1 | 2;

/** What commands may use of the process. */
export interface CommandIo {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly readStdin: () => Promise<string>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly clock: Clock;
  /** Aborted by SIGINT, SIGTERM or a closed standard output, and by SIGHUP while a cleanup is registered. */
  readonly signal: AbortSignal;
  /** Sets a listener for faults. Only a service does: without one, an unhandled rejection ends the command. */
  readonly onFault?: (listener: FaultListener) => void;
  /** The command that started this program, such as `promscaler` or `node PATH`; see `nameProgram`. */
  readonly command: string;
  /**
   * Registers a synchronous cleanup in case the process exits before the command returns. Returns a function that
   * removes the cleanup.
   */
  readonly guard?: (clean: () => void) => () => void;
}

interface Fault {
  /**
   * `rejection`: an unhandled promise rejection, after which the service continues. `fatal`: an uncaught exception,
   * after which the service stops as after SIGTERM, but with exit code 1.
   */
  readonly kind: 'warning' | 'rejection' | 'fatal';
  readonly error: Error;
}

export type FaultListener = (fault: Fault) => void;

export interface OutputStream {
  readonly isTerminal: boolean;
  /** Height of the terminal in lines; undefined or 0: unknown. */
  readonly rows?: () => number | undefined;
  /** Width of the terminal in characters; undefined or 0: unknown. */
  readonly columns?: () => number | undefined;
  readonly write: (text: string) => void;
}

/** Ends the command. Its message is printed on standard error without a stack trace. */
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
