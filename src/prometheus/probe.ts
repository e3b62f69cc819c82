import { type Clock, withDeadline } from '../units/clock.js';
import { createConnection } from './connection.js';
import { CredentialError } from './credential-files.js';
import { send, type SendResult } from './send.js';
import type { Environment } from './sign-in/sign-in.js';
import type { SourceConfig } from './source-config.js';

/** One GET of any page, to find out what is at an address. */
export type Probe = (request: {
  /** http or https, with its path. */
  readonly url: string;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Media types; JSON unless said otherwise. */
  readonly accept?: string;
}) => Promise<SendResult>;

/** Pages of a data source, asked with its credentials. They are sent to its own hosts alone. Never throws. */
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
