import { Agent as HttpAgent } from 'node:http';
import type { Agent as HttpsAgent } from 'node:https';
import { type Clock, sleep } from '../../units/clock.js';
import { answerLimits } from '../answers/answer.js';
import { mustRead } from '../requests/credential-files.js';
import type { Connection } from '../requests/send.js';
import { createSignIn } from '../sign-in/create-sign-in.js';
import type { Environment } from '../sign-in/environment.js';
import type { SourceConfig } from '../data-source/source-config.js';
import { createTlsAgents } from '../requests/tls-agents.js';
import { watchFile } from '../requests/watched-file.js';

const MIN_SECRET_LENGTH = 4;

/**
 * Returns a function that returns the connections and headers for a data source. It throws a `CredentialError` if a
 * file was never readable. `isForced` reads the files again, as needed after a 401. `send` adds the headers of `signIn`
 * to each request.
 */
export function createConnection(
  config: SourceConfig,
  clock: Clock,
  env: Environment = {},
): (isForced?: boolean) => Promise<Connection> {
  const httpAgent = new HttpAgent({ keepAlive: true });
  const unread = { bytes: 0 };
  const limits = answerLimits(config);
  let lastTurn = Promise.resolve();
  /** Resolves in a turn of the event loop of its own: large answers that end together delay other work one by one. */
  const takeTurn = (): Promise<void> => (lastTurn = lastTurn.then(() => sleep(clock, 0)));
  const httpsAgent = createTlsAgents(config.tls, clock);
  const signIn = config.signIn === null ? null : createSignIn(config.signIn, clock, env);
  const token = config.bearerTokenFile === null ? null : watchFile(config.bearerTokenFile, clock);
  const password = config.basicAuth === null ? null : watchFile(config.basicAuth.passwordFile, clock);

  /** Credentials change rarely, and thousands of queries use the same ones. */
  let current: { readonly connection: Connection; readonly secrets: readonly (string | null)[] } | null =
    null;

  const build = (agent: HttpsAgent, passwordText: string | null, tokenText: string | null): Connection => {
    const secrets = Object.values(config.headers);
    let headers = config.headers;
    if (config.basicAuth !== null && passwordText !== null) {
      const encoded = Buffer.from(`${config.basicAuth.username}:${passwordText}`).toString('base64');
      secrets.push(passwordText, encoded);
      headers = withAuthorization(headers, `Basic ${encoded}`);
    }
    if (tokenText !== null) {
      secrets.push(tokenText);
      headers = withAuthorization(headers, `Bearer ${tokenText}`);
    }
    const isSecret = (text: string): boolean => text.length >= MIN_SECRET_LENGTH;
    return {
      httpAgent,
      httpsAgent: agent,
      headers,
      secrets: secrets.filter(isSecret),
      signIn,
      unread,
      limits,
      takeTurn,
    };
  };

  const read = async (isForced: boolean): Promise<Connection> => {
    const passwordText =
      password === null ? null : await mustRead(password, 'basicAuth.passwordFile', isForced);
    const tokenText = token === null ? null : await mustRead(token, 'bearerTokenFile', isForced);
    const agent = await httpsAgent();
    if (
      current === null ||
      current.connection.httpsAgent !== agent ||
      current.secrets[0] !== passwordText ||
      current.secrets[1] !== tokenText
    )
      current = {
        connection: build(agent, passwordText, tokenText),
        secrets: [passwordText, tokenText],
      };
    return current.connection;
  };

  const hasFiles = password !== null || token !== null || config.tls !== null;
  let lasting: Promise<Connection> | null = null;
  return (isForced = false) => (hasFiles ? read(isForced) : (lasting ??= read(false)));
}

function withAuthorization(
  headers: Readonly<Record<string, string>>,
  value: string,
): Readonly<Record<string, string>> {
  const others = Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'authorization');
  return { ...Object.fromEntries(others), Authorization: value };
}
