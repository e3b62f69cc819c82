import type { StopSignal } from '../../units/light-deadline.js';
import { sendWithRenewal } from '../../units/send-with-renewal.js';
import { CredentialError } from '../requests/credential-files.js';
import { type Connection, send, type SendResult } from '../requests/send.js';

export const QUERY_PATH = '/api/v1/query';
export const RANGE_PATH = '/api/v1/query_range';

/** Queries may be longer than a URL. */
const POST_PATHS: ReadonlySet<string> = new Set([QUERY_PATH, RANGE_PATH]);

export interface Call {
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>> | string;
  readonly signal: StopSignal;
  /** The media types to accept; default: JSON. */
  readonly accept?: string;
  readonly mayCompress?: boolean;
  readonly checksBounds?: boolean;
}

export interface CallResult {
  readonly result: SendResult;
  readonly secrets: readonly string[];
}

/** Sends a request, and again after a 401 if the token has been replaced, or if POST is not allowed. */
export function createRequest(
  url: string,
  connect: (isForced?: boolean) => Promise<Connection>,
  hasToken: boolean,
): (call: Call) => Promise<CallResult> {
  let isPostRefused = false;

  const once = async ({ path, ...call }: Call, connection: Connection): Promise<CallResult> => {
    const method = !POST_PATHS.has(path) || isPostRefused ? 'GET' : 'POST';
    const result = await send({ method, url: url + path, connection, ...call });
    return { result, secrets: connection.secrets };
  };

  return async (call) => {
    try {
      const first = await sendWithRenewal({
        read: () => connect(),
        send: (connection) => once(call, connection),
        renew: async ({ result }) =>
          hasToken && result.kind === 'answered' && result.status === 401 ? connect(true) : null,
      });
      if (first.result.kind === 'failed') return first;
      const { status } = first.result;
      if ((status !== 405 && status !== 501) || isPostRefused || !POST_PATHS.has(call.path)) return first;
      isPostRefused = true;
      return await once(call, await connect());
    } catch (error) {
      if (!(error instanceof CredentialError)) throw error;
      return { result: { kind: 'failed', reason: 'unauthorized', message: error.message }, secrets: [] };
    }
  };
}
