import type { Clock } from '../units/clock.js';
import type { Answer } from './answers/answer.js';

/** Queries that a source has rejected as invalid. They are retried rarely until the document or config changes. */
export interface RefusedQueries {
  readonly ask: (key: string, periodSeconds: number, ask: () => Promise<Answer>) => Promise<Answer>;
}

/**
 * Number of sync periods before a rejected query is retried: in the fifth round, minus half a period because rounds may
 * start slightly late.
 */
const REST_PERIODS = 4.5;

export function createRefusedQueries(clock: Clock): RefusedQueries {
  const refused = new Map<string, { readonly answer: Answer; readonly untilMs: number }>();

  return {
    ask: async (key, periodSeconds, ask) => {
      const nowMs = clock.monotonicMs();
      // Also removes queries of deleted documents.
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
