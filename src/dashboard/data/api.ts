import { withDeadline } from '../../units/clock.js';
import type { Clock } from '../../units/clock.js';
import { ApiError, apiErrorOf, errorOfStatus, parseJson } from './api-error.js';
import { createCell } from './cell.js';
import type { Cell } from './cell.js';
import { createLiveEvents } from './live-events.js';
import type { LiveEvents } from './live-events.js';
import { readBody } from './read-body.js';
import type { ApiRequest } from './requests.js';
import type { Session } from './session.js';

export interface Api {
  /**
   * Sends a request and returns the checked answer. Rejects with an `ApiError`, or with the reason of `signal` when it
   * is aborted.
   */
  readonly read: <T>(request: ApiRequest<T>, signal?: AbortSignal) => Promise<T>;
  readonly live: LiveEvents;
  /** The last result of each load that has a name (`loadName`). When a page is closed, its error is removed. */
  readonly loads: Cell<ReadonlyMap<string, Load>>;
  readonly session: Session;
  readonly clock: Clock;
}

export interface Load {
  /** When it was loaded last, as Unix time in ms; null: it was never loaded. */
  readonly at: number | null;
  /** Why the last request failed; null: it succeeded. */
  readonly error: ApiError | null;
}

export interface ApiOptions {
  /** Address of the page, to which the paths of the API are relative. */
  readonly base: string;
  readonly clock: Clock;
  readonly session: Session;
  readonly fetch: typeof globalThis.fetch;
}

const DEADLINE_MS = 20_000;
/** Maximum size of an answer. An overview with 10,000 rows has about 7 MiB. */
const MAX_BYTES = 32 * 1024 * 1024;

export function createApi({ base, clock, session, fetch }: ApiOptions): Api {
  const send = (path: string, headers: Readonly<Record<string, string>>, signal: AbortSignal) => {
    const { token } = session.state.get();
    return fetch(new URL(path, base), {
      headers: token === null ? headers : { ...headers, Authorization: `Bearer ${token}` },
      signal,
      redirect: 'error',
    });
  };
  const read = async <T>({ path, check }: ApiRequest<T>, parent?: AbortSignal): Promise<T> => {
    const { token } = session.state.get();
    try {
      return await withDeadline(clock, { ms: DEADLINE_MS, parent }, async (signal) => {
        const response = await send(path, { Accept: 'application/json' }, signal);
        const text = await readBody(response, MAX_BYTES);
        if (!response.ok) throw errorOfStatus(response.status, text);
        const value = parseJson(text);
        if (check(value)) return value;
        throw new ApiError('invalid', `the answer of ${path} is not from promscaler`);
      });
    } catch (error) {
      if (parent?.aborted === true) throw parent.reason;
      const known = apiErrorOf(error);
      if (known.kind === 'unauthorized') session.reject(known.message, token);
      throw known;
    }
  };
  const loads = createCell<ReadonlyMap<string, Load>>(new Map());
  return { read, live: createLiveEvents({ send, clock, session }), loads, session, clock };
}
