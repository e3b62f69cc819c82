import { Agent } from 'node:http';
import type { Clock } from '../../units/clock.js';
import { CredentialError } from '../requests/credential-files.js';
import { send } from '../requests/send.js';
import type { SourceTls } from '../data-source/source-config.js';
import { createTlsAgents } from '../requests/tls-agents.js';

export interface TokenRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

interface TokenAnswer {
  readonly status: number;
  readonly contentType: string | null;
  readonly body: string;
}

/**
 * Sends requests of authentication libraries like requests to a data source, without redirects and proxies. Throws a
 * `CredentialError`, or the reason of the signal.
 */
export type TokenHttp = (request: TokenRequest) => Promise<TokenAnswer>;

/** `what` starts each message. */
export function createTokenHttp(options: {
  readonly clock: Clock;
  readonly tls: SourceTls | null;
  readonly what: string;
}): TokenHttp {
  const httpAgent = new Agent({ keepAlive: false });
  const httpsAgent = createTlsAgents(options.tls, options.clock, 'oauth2.tls');
  return async ({ method, url, headers, body, signal }) => {
    const result = await send({
      method,
      url,
      parameters: method === 'POST' ? Object.fromEntries(new URLSearchParams(body)) : {},
      connection: { httpAgent, httpsAgent: await httpsAgent(), headers, secrets: [], signIn: null },
      signal,
    });
    signal.throwIfAborted();
    if (result.kind === 'failed') throw new CredentialError(`${options.what}: ${result.message}`);
    if (result.location !== null)
      throw new CredentialError(`${options.what} answered with a redirect, which is not followed`);
    return { status: result.status, contentType: result.contentType, body: result.body };
  };
}
