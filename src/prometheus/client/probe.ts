import { type Clock, withDeadline } from '../../units/clock.js';
import { createConnection } from './connection.js';
import { CredentialError } from '../requests/credential-files.js';
import { send, type SendResult } from '../requests/send.js';
import type { Environment } from '../sign-in/environment.js';
import type { SourceConfig } from '../data-source/source-config.js';

/** Sends a GET for any page, to recognize the server. */
export type Probe = (request: {
  /** http or https, including the path. */
  readonly url: string;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly accept?: string;
}) => Promise<SendResult>;

/**
 * Creates a probe with the credentials of a data source, which are sent only to the hosts of that source. Never throws.
 */
export function createProbe(config: SourceConfig, clock: Clock, env: Environment = {}): Probe {
  const connect = createConnection(config, clock, env);
  const hosts = new Set(config.urls.filter((url) => URL.canParse(url)).map((url) => new URL(url).host));
  return async ({ url, parameters = {}, timeoutMs, signal: parent, accept }) => {
    if (!URL.canParse(url) || !hosts.has(new URL(url).host))
      return { kind: 'failed', reason: 'connection', message: 'not a host of this data source' };
    try {
      const connection = await connect();
      return await withDeadline(clock, { ms: timeoutMs, parent }, (signal) =>
        send({
          method: 'GET',
          url,
          parameters,
          connection,
          signal,
          ...(accept === undefined ? {} : { accept }),
        }),
      );
    } catch (error) {
      if (!(error instanceof CredentialError)) throw error;
      return { kind: 'failed', reason: 'unauthorized', message: error.message, code: 'CREDENTIAL_FILE' };
    }
  };
}
