import { X509Certificate } from 'node:crypto';
import type { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent, type AgentOptions } from 'node:https';
import { createSecureContext } from 'node:tls';
import type { Clock } from '../units/clock.js';
import { createSecretFile, CredentialError } from './credentials.js';

/** The files of a TLS client. Changed files are read again. While a file is invalid, its last valid content is used. */
export interface TlsFiles {
  readonly caFile: string | null;
  readonly certFile: string | null;
  readonly keyFile: string | null;
  readonly serverName: string | null;
  readonly insecureSkipVerify: boolean;
}

/** The contents of `TlsFiles`. All strings are PEM, except `serverName`. */
export interface TlsMaterial {
  readonly ca: string | null;
  readonly certificate: string | null;
  readonly key: string | null;
  /** The name that the certificate must have, if that is not the host of the URL. */
  readonly serverName: string | null;
  readonly verify: boolean;
}

type ReadPem = (() => Promise<string>) | null;

/**
 * Returns a function that reads certificates and keys. It returns the same object until valid new content is read, so
 * that callers can compare by identity. It rejects with a `CredentialError` if the content was never valid; `what`
 * names the files in the message.
 */
export function createTlsReader(
  pem: { readonly ca: ReadPem; readonly certificate: ReadPem; readonly key: ReadPem },
  options: Pick<TlsMaterial, 'serverName' | 'verify'> & { readonly what: string },
): () => Promise<TlsMaterial> {
  const { what, serverName, verify } = options;
  let last: TlsMaterial | null = null;
  return async () => {
    const [ca = null, certificate = null, key = null] = await Promise.all([
      pem.ca?.(),
      pem.certificate?.(),
      pem.key?.(),
    ]);
    if (last !== null && last.ca === ca && last.certificate === certificate && last.key === key) return last;
    const material = { ca, certificate, key, serverName, verify };
    if (isUsable(material)) last = material;
    if (last === null) throw new CredentialError(`${what} contain no usable certificate or key`);
    return last;
  };
}

function isUsable({ ca, certificate, key }: TlsMaterial): boolean {
  try {
    // Checks the certificates in `ca`, because createSecureContext ignores broken ones.
    if (ca !== null) new X509Certificate(ca);
    createSecureContext({
      ...(ca === null ? {} : { ca }),
      ...(certificate === null ? {} : { cert: certificate }),
      ...(key === null ? {} : { key }),
    });
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the options of HTTPS connections. They require TLS 1.2 or newer, and a valid certificate unless `tls.verify`
 * is false.
 */
export function agentOptions(tls: TlsMaterial | null): AgentOptions {
  return {
    keepAlive: true,
    minVersion: 'TLSv1.2',
    rejectUnauthorized: tls?.verify ?? true,
    ...(tls?.ca == null ? {} : { ca: tls.ca }),
    ...(tls?.certificate == null ? {} : { cert: tls.certificate }),
    ...(tls?.key == null ? {} : { key: tls.key }),
    ...(tls?.serverName == null ? {} : { servername: tls.serverName }),
  };
}

/** Closes the idle connections of an agent. A connection that is in use is closed after its request. */
export function drain(agent: HttpAgent): void {
  agent.maxFreeSockets = 0;
  for (const sockets of Object.values(agent.freeSockets))
    for (const socket of sockets ?? []) socket.destroy();
}

/**
 * Returns a function that returns the HTTPS agent for the files of `tls`. When the files change, it creates a new agent
 * and drains the previous one. It rejects with a `CredentialError` if the files were never valid; `setting` names them
 * in the message.
 */
export function createTlsAgent(
  tls: TlsFiles | null,
  clock: Clock,
  setting = 'tls',
): () => Promise<HttpsAgent> {
  if (tls === null) {
    const agent = new HttpsAgent(agentOptions(null));
    return () => Promise.resolve(agent);
  }
  const reader = (path: string | null, name: string): ReadPem =>
    path === null ? null : createSecretFile({ path, clock, setting: `${setting}.${name}` }).read;
  const read = createTlsReader(
    {
      ca: reader(tls.caFile, 'caFile'),
      certificate: reader(tls.certFile, 'certFile'),
      key: reader(tls.keyFile, 'keyFile'),
    },
    {
      serverName: tls.serverName,
      verify: !tls.insecureSkipVerify,
      what: `the files of ${setting}`,
    },
  );
  let current: { readonly material: TlsMaterial; readonly agent: HttpsAgent } | null = null;
  return async () => {
    const material = await read();
    if (current?.material !== material) {
      if (current !== null) drain(current.agent);
      current = { material, agent: new HttpsAgent(agentOptions(material)) };
    }
    return current.agent;
  };
}
