import { readBoundedText } from '../../files/read-bounded.js';
import type { Clock } from '../../units/clock.js';
import { errorFacts } from '../api/error-facts.js';
import type { Log } from '../../units/log.js';

/** A token or certificate in a file that may be replaced while the service runs. */
interface FileSecret {
  /** Returns the trimmed content. `fresh` reads the file again. */
  readonly read: (fresh?: boolean) => Promise<string>;
}

/**
 * Returns a reader that reads `path` at most every `maxAgeMs`. If the first read fails, throws an `Error` with the
 * path. A later failure is logged, and the last valid content is used. Source: reliability.md, K20 and K21.
 */
export function createFileSecret(options: {
  readonly path: string;
  readonly maxAgeMs: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly accepts?: (text: string) => boolean;
}): FileSecret {
  const { path, maxAgeMs, clock, log } = options;
  let valid: string | null = null;
  let readAtMs = 0;
  return {
    read: async (fresh = false) => {
      if (valid !== null && !fresh && clock.monotonicMs() - readAtMs < maxAgeMs) return valid;
      readAtMs = clock.monotonicMs();
      try {
        valid = await readText(path, options.accepts ?? (() => true));
      } catch (cause) {
        if (valid === null) throw cause;
        log.warn('failed to reload credentials; using the last ones', {
          file: path,
          error: errorFacts(cause).message,
        });
      }
      return valid;
    },
  };
}

const MAX_BYTES = 1024 * 1024;

async function readText(path: string, accepts: (text: string) => boolean): Promise<string> {
  let text;
  try {
    text = (await readBoundedText(path, { mostBytes: MAX_BYTES })).trim();
  } catch (cause) {
    throw new Error(`reading ${path}: ${errorFacts(cause).message}`, { cause });
  }
  if (text === '') throw new Error(`reading ${path}: the file is empty`);
  if (!accepts(text)) throw new Error(`reading ${path}: not PEM`);
  return text;
}
