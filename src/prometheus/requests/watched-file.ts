import { readBoundedText } from '../../files/read-bounded.js';
import type { Clock } from '../../units/clock.js';

/** A small file that is read again while the service runs: a token, password or certificate. */
export interface WatchedFile {
  /**
   * Returns the trimmed content, at most 10 s old, or the current one with `isForced`; null if the file was never
   * readable.
   */
  readonly read: (isForced?: boolean) => Promise<string | null>;
}

const REREAD_MS = 10_000;
const MOST_BYTES = 1024 * 1024;

/**
 * Watches the file at `path`. While it is empty or unreadable, the last valid content is kept, because kubelet and
 * cert-manager replace files in several steps. Never throws.
 */
export function watchFile(path: string, clock: Clock): WatchedFile {
  let content: string | null = null;
  let readAtMs = -Infinity;
  let reading: Promise<void> | null = null;

  const reread = async (): Promise<void> => {
    try {
      const text = (await readBoundedText(path, { mostBytes: MOST_BYTES })).trim();
      if (text !== '') content = text;
    } catch {
      // The last content is kept. If there is none, the caller reports the file.
    }
    readAtMs = clock.monotonicMs();
    reading = null;
  };

  return {
    read: async (isForced = false) => {
      const isFresh = content !== null && clock.monotonicMs() - readAtMs < REREAD_MS;
      if (isForced || !isFresh) await (reading ??= reread());
      return content;
    },
  };
}
