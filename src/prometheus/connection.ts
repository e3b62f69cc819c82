import { X509Certificate } from 'node:crypto';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { createSecureContext } from 'node:tls';
import type { Clock } from '../units/clock.js';
import type { SourceConfig, SourceTls } from './source-config.js';
import { watchFile, type WatchedFile } from './watched-file.js';

/** What a request to a data source needs beside its address. */
export interface Connection {
  readonly httpAgent: HttpAgent;
  readonly httpsAgent: HttpsAgent;
  readonly headers: Readonly<Record<string, string>>;
  /** What must not appear in any message. */
  readonly secrets: readonly string[];
}

/** A file of the service config that was never readable; says which setting names it. */
export class CredentialError extends Error {
  override name = 'CredentialError';
}

/** How long the connections of replaced certificates may go on with what they carry. */
const DRAIN_MS = 60_000;

const MIN_SECRET_LENGTH = 4;

/**
 * The connections and headers of a data source. The function throws a `CredentialError` where a file was never readable;
 * with `isForced` it reads the files anew, which is what a 401 asks for.
 */
export function createConnection(
  config: SourceConfig,
  clock: Clock,
): (isForced?: boolean) => Promise<Connection> {
  const httpAgent = new HttpAgent({ keepAlive: true });
  const httpsAgent = createTlsAgents(config.tls, clock);
  const token = config.bearerTokenFile === null ? null : watchFile(config.bearerTokenFile, clock);
  const password = config.basicAuth === null ? null : watchFile(config.basicAuth.passwordFile, clock);

  return async (isForced = false) => {
    const secrets = Object.values(config.headers);
    let headers = config.headers;
    if (config.basicAuth !== null && password !== null) {
      const secret = await mustRead(password, 'basicAuth.passwordFile', isForced);
      const encoded = Buffer.from(`${config.basicAuth.username}:${secret}`).toString('base64');
      secrets.push(secret, encoded);
      headers = withAuthorization(headers, `Basic ${encoded}`);
    }
    if (token !== null) {
      const secret = await mustRead(token, 'bearerTokenFile', isForced);
      secrets.push(secret);
      headers = withAuthorization(headers, `Bearer ${secret}`);
    }
    const isSecret = (text: string): boolean => text.length >= MIN_SECRET_LENGTH;
    return { httpAgent, httpsAgent: await httpsAgent(), headers, secrets: secrets.filter(isSecret) };
  };
}

function withAuthorization(
  headers: Readonly<Record<string, string>>,
  value: string,
): Readonly<Record<string, string>> {
  const others = Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'authorization');
  return { ...Object.fromEntries(others), Authorization: value };
}

async function mustRead(file: WatchedFile, setting: string, isForced = false): Promise<string> {
  const content = await file.read(isForced);
  if (content === null) throw new CredentialError(`the file of ${setting} is empty or cannot be read`);
  return content;
}

/** The agent for https: a new one when a certificate file changes, the last one while the new files are not usable. */
function createTlsAgents(tls: SourceTls | null, clock: Clock): () => Promise<HttpsAgent> {
  const files = {
    ca: fileOf(tls?.caFile, clock),
    cert: fileOf(tls?.certFile, clock),
    key: fileOf(tls?.keyFile, clock),
  };
  let current: { readonly agent: HttpsAgent; readonly fingerprint: string } | null = null;

  return async () => {
    const ca = files.ca === null ? null : await mustRead(files.ca, 'tls.caFile');
    const cert = files.cert === null ? null : await mustRead(files.cert, 'tls.certFile');
    const key = files.key === null ? null : await mustRead(files.key, 'tls.keyFile');
    const fingerprint = JSON.stringify([ca, cert, key]);
    if (current?.fingerprint === fingerprint) return current.agent;
    const material = {
      ...(ca === null ? {} : { ca }),
      ...(cert === null ? {} : { cert }),
      ...(key === null ? {} : { key }),
    };
    if (!isUsable(material)) {
      if (current !== null) return current.agent;
      throw new CredentialError('the files of tls hold no usable certificate or key');
    }
    const old = current?.agent;
    if (old !== undefined) clock.after(DRAIN_MS, () => old.destroy());
    const agent = new HttpsAgent({
      keepAlive: true,
      minVersion: 'TLSv1.2',
      rejectUnauthorized: tls?.insecureSkipVerify !== true,
      ...(tls?.serverName === null || tls === null ? {} : { servername: tls.serverName }),
      ...material,
    });
    current = { agent, fingerprint };
    return agent;
  };
}

function fileOf(path: string | null | undefined, clock: Clock): WatchedFile | null {
  return path === null || path === undefined ? null : watchFile(path, clock);
}

function isUsable(material: {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}): boolean {
  try {
    // createSecureContext reads over certificates in `ca` that are broken.
    if (material.ca !== undefined) new X509Certificate(material.ca);
    createSecureContext(material);
    return true;
  } catch {
    return false;
  }
}
