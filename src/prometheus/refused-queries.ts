import type { Clock } from '../units/clock.js';
import type { Answer } from './answer.js';

/** Queries that a source has refused as wrong: they are wrong until somebody changes them, and asked but rarely. */
export interface RefusedQueries {
  /** What `ask` gives, or for a refused query what it gave the last time. */
  readonly ask: (key: string, periodSeconds: number, ask: () => Promise<Answer>) => Promise<Answer>;
}

/** A refused query is asked in every fifth round; half a period early, as rounds begin a little late. */
const REST_PERIODS = 4.5;

/** Nothing is refused yet. Source: reliability.md, 3.2, `bad_data`. */
export function createRefusedQueries(clock: Clock): RefusedQueries {
  const refused = new Map<string, { readonly answer: Answer; readonly untilMs: number }>();

  return {
    ask: async (key, periodSeconds, ask) => {
      const nowMs = clock.monotonicMs();
      // Also those of documents that are gone.
      for (const [other, { untilMs }] of refused) if (untilMs <= nowMs) refused.delete(other);
      const known = refused.get(key);
      if (known !== undefined) return known.answer;
      const answer = await ask();
      if (answer.class === 'failed' && answer.reason === 'bad_query') {
        refused.set(key, { answer, untilMs: nowMs + REST_PERIODS * periodSeconds * 1000 });
      }
      return answer;
    },
  };
}
