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

/** Interval between two searches for queries of deleted documents. */
const CLEAN_MS = 60_000;

export function createRefusedQueries(clock: Clock): RefusedQueries {
  const refused = new Map<string, { readonly answer: Answer; readonly untilMs: number }>();
  let cleanMs = -Infinity;

  const clean = (nowMs: number): void => {
    if (nowMs < cleanMs) return;
    cleanMs = nowMs + CLEAN_MS;
    for (const [key, { untilMs }] of refused) if (untilMs <= nowMs) refused.delete(key);
  };

  return {
    ask: (key, periodSeconds, ask) => {
      const nowMs = clock.monotonicMs();
      clean(nowMs);
      const known = refused.get(key);
      if (known !== undefined && known.untilMs > nowMs) return Promise.resolve(known.answer);
      return ask().then((answer) => {
        if (answer.class === 'failed' && answer.reason === 'bad_query')
          refused.set(key, { answer, untilMs: nowMs + REST_PERIODS * periodSeconds * 1000 });
        return answer;
      });
    },
  };
}
