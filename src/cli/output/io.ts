import type { Clock } from '../../units/clock.js';
import { type Writable, type Readable, addAbortSignal } from 'node:stream';
import { escapeText } from '../../units/clean-text.js';

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
  /**
   * Sets a listener for faults. Only a service sets a listener. Without a listener, an unhandled rejection ends the
   * command.
   */
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

/** Returns the result of `run`, or the `CommandError` that it throws. Rethrows other errors. */
export async function orCommandError<T>(run: () => Promise<T>): Promise<T | CommandError> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof CommandError) return error;
    throw error;
  }
}

export function usageError(message: string): CommandError {
  return new CommandError(message, 2);
}

/**
 * Matches the terminal sequences that commands write: colors (not `conceal`), the start of a progress line or a screen,
 * the end of a line on a screen, and the end of a screen.
 */
const OWN_SEQUENCE =
  // eslint-disable-next-line no-control-regex -- terminal sequences consist of control characters
  /(^\r\u001b\[K|^\u001b\[H|\u001b\[(?:[0-4]|2[2-4]|3\d|9[0-7])m|\u001b\[K(?=\n)|\u001b\[J$)/;

/**
 * Returns a stream that escapes control and invisible characters as `\uXXXX`, which does not change the meaning of
 * JSON. The characters come from documents, servers and manifests. Only this stream escapes them, because all output
 * passes through it.
 */
export function cleanStream(stream: OutputStream): OutputStream {
  return {
    ...stream,
    write: (text) =>
      stream.write(
        text
          .split(OWN_SEQUENCE)
          // The sequences of `OWN_SEQUENCE` are at odd positions and are written unchanged.
          .map((part, index) => (index % 2 === 1 ? part : escapeText(part)))
          .join(''),
      ),
  };
}

/** Maximum number of bytes that the reader has not read yet. Further output is lost. */
const MAX_WAITING_BYTES = 1024 * 1024;

/**
 * Returns a function that writes to a stream and ignores failures. Text is lost if the reader has closed the stream, if
 * the disk is full, or if more than 1 MiB is unread; later text is still written if possible. The log of the service
 * needs this function, because the service must scale even if nothing can be logged (reliability.md, F52).
 */
export function lossyOutput(stream: Writable): (text: string) => void {
  // Without a listener, an `error` event would end the process.
  stream.on('error', () => undefined);
  return (text) => {
    if (stream.writableLength + Buffer.byteLength(text) <= MAX_WAITING_BYTES) stream.write(text);
  };
}

/** Limits the input, which may be an endless stream. A string in Node.js has at most 512 Mi characters. */
const MOST_BYTES = 256 * 1024 * 1024;

/**
 * Throws `CommandError` above `mostBytes`. Also throws when `signal` is aborted: waiting for a terminal would keep the
 * process running.
 */
export async function readStdin(
  stream: Readable,
  signal: AbortSignal,
  mostBytes: number = MOST_BYTES,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let length = 0;
  try {
    for await (const chunk of addAbortSignal(signal, stream) as AsyncIterable<Uint8Array>) {
      length += chunk.length;
      if (length > mostBytes)
        throw new CommandError(`standard input exceeds the limit of ${mostBytes} bytes`);
      text += decoder.decode(chunk, { stream: true });
    }
  } catch (error) {
    if (signal.aborted) throw new CommandError('reading standard input: interrupted');
    throw error;
  }
  return text + decoder.decode();
}
