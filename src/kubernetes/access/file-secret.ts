import { readBoundedText } from '../../files/read-bounded.js';
import type { Clock } from '../../units/clock.js';
import { errorFacts } from '../error-facts.js';
import type { Log } from '../../units/log.js';

/** A token or certificate in a file that is replaced while the service runs. */
export interface FileSecret {
  /** The text without white space around it; read again when it is due, or at once if `fresh`. */
  readonly read: (fresh?: boolean) => Promise<string>;
}

/**
 * Reads `path` at most every `maxAgeMs`. A file that cannot be read later, or is empty, leaves the last good text in
 * force and is reported. The first read throws an `Error` that names the file. Source: reliability.md, K20 and K21.
 */
export function createFileSecret(options: {
  readonly path: string;
  readonly maxAgeMs: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether the text may be what it should be; default: any. */
  readonly accepts?: (text: string) => boolean;
}): FileSecret {
  const { path, maxAgeMs, clock, log } = options;
  let good: string | null = null;
  let readAtMs = 0;
  return {
    read: async (fresh = false) => {
      if (good !== null && !fresh && clock.monotonicMs() - readAtMs < maxAgeMs) return good;
      readAtMs = clock.monotonicMs();
      try {
        good = await readText(path, options.accepts ?? (() => true));
      } catch (cause) {
        if (good === null) throw cause;
        log.warn('failed to reload credentials; using the last ones', {
          file: path,
          error: errorFacts(cause).message,
        });
      }
      return good;
    },
  };
}

const MOST_BYTES = 1024 * 1024;

async function readText(path: string, accepts: (text: string) => boolean): Promise<string> {
  let text;
  try {
    text = (await readBoundedText(path, { mostBytes: MOST_BYTES })).trim();
  } catch (cause) {
    throw new Error(`reading ${path}: ${errorFacts(cause).message}`, { cause });
  }
  if (text === '') throw new Error(`reading ${path}: the file is empty`);
  if (!accepts(text)) throw new Error(`reading ${path}: no PEM text`);
  return text;
}
