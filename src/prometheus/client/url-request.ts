import type { Clock } from '../../units/clock.js';
import { LightDeadline, type StopSignal } from '../../units/light-deadline.js';
import { CredentialError } from '../requests/credential-files.js';
import { type Connection, send, type SendResult } from '../requests/send.js';

export const QUERY_PATH = '/api/v1/query';
export const RANGE_PATH = '/api/v1/query_range';

/** Queries may be longer than a URL. */
const POST_PATHS: ReadonlySet<string> = new Set([QUERY_PATH, RANGE_PATH]);

export interface Call {
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>> | string;
  /** Time limit of all attempts. */
  readonly ms: number;
  /** Cancels the request. */
  readonly parent: AbortSignal | undefined;
  /** The media types to accept; default: JSON. */
  readonly accept?: string | undefined;
  readonly mayCompress?: boolean;
  readonly checksBounds?: boolean;
}

export interface CallResult {
  readonly result: SendResult;
  readonly secrets: readonly string[];
}

/** Sends a request, and again after a 401 if the token has been replaced, or if POST is not allowed. */
export function createRequest(options: {
  readonly url: string;
  readonly connect: (isForced?: boolean) => Promise<Connection>;
  readonly clock: Clock;
  readonly hasToken: boolean;
}): (call: Call) => Promise<CallResult> {
  const { url, connect, clock, hasToken } = options;
  let isPostRefused = false;

  /** A string that is joined again for each query would be hashed again, too. */
  const urls = new Map<string, string>();
  const urlOf = (path: string): string => {
    let known = urls.get(path);
    if (known === undefined) urls.set(path, (known = url + path));
    return known;
  };

  const sendOn = (call: Call, connection: Connection, signal: StopSignal): Promise<SendResult> => {
    const { path, parameters, accept, mayCompress, checksBounds } = call;
    const method = !POST_PATHS.has(path) || isPostRefused ? 'GET' : 'POST';
    return send({
      method,
      url: urlOf(path),
      parameters,
      connection,
      signal,
      accept,
      mayCompress,
      checksBounds,
    });
  };

  return async (call) => {
    const deadline = new LightDeadline(clock, call);
    try {
      let connection = await connect();
      let result = await sendOn(call, connection, deadline);
      if (hasToken && result.kind === 'answered' && result.status === 401) {
        connection = await connect(true);
        result = await sendOn(call, connection, deadline);
      }
      const isRefused = result.kind === 'answered' && (result.status === 405 || result.status === 501);
      if (isRefused && !isPostRefused && POST_PATHS.has(call.path)) {
        isPostRefused = true;
        connection = await connect();
        result = await sendOn(call, connection, deadline);
      }
      return { result, secrets: connection.secrets };
    } catch (error) {
      if (!(error instanceof CredentialError)) throw error;
      return { result: { kind: 'failed', reason: 'unauthorized', message: error.message }, secrets: [] };
    } finally {
      deadline.end();
    }
  };
}
