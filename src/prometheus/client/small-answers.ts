/**
 * Remembers which queries have small answers: compressing and decompressing 1 KiB costs both sides more than sending
 * it.
 */
export interface SmallAnswers {
  readonly has: (query: string) => boolean;
  /** `length` of the decompressed answer. */
  readonly note: (query: string, length: number) => void;
}

const MAX_LENGTH = 4096;
/** Above this number everything is forgotten, including queries of deleted documents. */
const MAX_QUERIES = 20_000;

export function createSmallAnswers(): SmallAnswers {
  const queries = new Set<string>();
  return {
    has: (query) => queries.has(query),
    note: (query, length) => {
      if (length > MAX_LENGTH) queries.delete(query);
      else {
        if (queries.size >= MAX_QUERIES && !queries.has(query)) queries.clear();
        queries.add(query);
      }
    },
  };
}
