import { Agent } from 'node:http';
import { failureWithoutAnswer, sendHttp } from '../../http/http-client.js';
import { readBody } from '../../http/read-body.js';
import { CredentialError } from '../../http/credentials.js';
import { createTlsAgent, type TlsFiles } from '../../http/tls.js';
import type { Clock } from '../../units/clock.js';
import type { HttpAnswer } from '../answers/classify.js';

export interface TokenRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A form-encoded body. */
  readonly body: string;
  readonly signal: AbortSignal;
}

/**
 * Sends the requests of authentication libraries as promscaler sends its own requests: without redirects and without a
 * proxy. Throws a `CredentialError`, or the reason of the signal.
 */
export type TokenHttp = (request: TokenRequest) => Promise<HttpAnswer>;

const MAX_BYTES = 1024 * 1024;

/** Each error message starts with `what`. */
export function createTokenHttp(options: {
  readonly clock: Clock;
  readonly tls: TlsFiles | null;
  readonly what: string;
}): TokenHttp {
  const httpAgent = new Agent({ keepAlive: false });
  const httpsAgent = createTlsAgent(options.tls, options.clock, 'oauth2.tls');

  const exchange = async ({ method, url, headers, body, signal }: TokenRequest): Promise<HttpAnswer> => {
    const agents = { httpAgent, httpsAgent: await httpsAgent() };
    const form = method === 'POST' ? { 'Content-Type': 'application/x-www-form-urlencoded' } : {};
    const response = await sendHttp({
      method,
      url,
      headers: {
        'User-Agent': 'promscaler',
        ...headers,
        Accept: 'application/json',
        'Accept-Encoding': 'gzip',
        ...form,
      },
      body: method === 'POST' ? body : null,
      signal,
      agents,
    });
    const bytes = await readBody(response, { bytes: MAX_BYTES });
    if (response.headers.location !== undefined)
      throw new CredentialError(`${options.what} answered with a redirect, which is not followed`);
    const { statusCode: status = 0, headers: received } = response;
    return { status, contentType: received['content-type'] ?? null, body: bytes.toString('utf8') };
  };

  return async (request) => {
    try {
      return await exchange(request);
    } catch (error) {
      request.signal.throwIfAborted();
      if (error instanceof CredentialError) throw error;
      throw new CredentialError(`${options.what}: ${failureWithoutAnswer(error, request.signal).message}`);
    }
  };
}
