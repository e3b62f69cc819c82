import { useCallback } from 'preact/hooks';
import { parseTime } from '../../ui/times.js';
import { replaceParameters, useHash } from '../../ui/use-hash.js';

/** The selected time. It is the parameter `at` of the address, in RFC 3339; null: the last decision is selected. */
export interface Moment {
  readonly at: string | null;
  /** The same time in Unix seconds. */
  readonly second: number | null;
  readonly select: (second: number | null) => void;
}

export function useMoment(): Moment {
  const hash = useHash();
  const mark = hash.indexOf('?');
  const given = mark === -1 ? null : new URLSearchParams(hash.slice(mark + 1)).get('at');
  const ms = given === null ? null : parseTime(given);
  const select = useCallback((second: number | null) => {
    const at =
      second === null ? null : new Date(Math.round(second * 1000)).toISOString().replace('.000Z', 'Z');
    replaceParameters(new URLSearchParams(at === null ? {} : { at }));
  }, []);
  return {
    at: ms === null ? null : new Date(ms).toISOString().replace('.000Z', 'Z'),
    second: ms === null ? null : ms / 1000,
    select,
  };
}
