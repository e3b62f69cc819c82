import { X509Certificate } from 'node:crypto';
import { Agent as HttpsAgent } from 'node:https';
import { createSecureContext } from 'node:tls';
import type { Clock } from '../../units/clock.js';
import { CredentialError, mustRead } from './credential-files.js';
import type { SourceTls } from '../data-source/source-config.js';
import { watchFile, type WatchedFile } from './watched-file.js';

/** How long connections with replaced certificates may finish their requests. */
const DRAIN_MS = 60_000;

/**
 * Returns the agent for https. When a certificate file changes, it creates a new agent, or keeps the previous one while
 * the new files are invalid. Throws a `CredentialError` if they were never valid. `setting` identifies them in the
 * message; default: `tls`.
 */
export function createTlsAgents(
  tls: SourceTls | null,
  clock: Clock,
  setting = 'tls',
): () => Promise<HttpsAgent> {
  const files = {
    ca: fileOf(tls?.caFile, clock),
    cert: fileOf(tls?.certFile, clock),
    key: fileOf(tls?.keyFile, clock),
  };
  let current: AgentOfFiles | null = null;

  return async () => {
    const ca = files.ca === null ? null : await mustRead(files.ca, `${setting}.caFile`);
    const cert = files.cert === null ? null : await mustRead(files.cert, `${setting}.certFile`);
    const key = files.key === null ? null : await mustRead(files.key, `${setting}.keyFile`);
    if (current !== null && current.ca === ca && current.cert === cert && current.key === key)
      return current.agent;
    const material = {
      ...(ca === null ? {} : { ca }),
      ...(cert === null ? {} : { cert }),
      ...(key === null ? {} : { key }),
    };
    if (!isUsable(material)) {
      if (current !== null) return current.agent;
      throw new CredentialError(`the files of ${setting} contain no usable certificate or key`);
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
    current = { agent, ca, cert, key };
    return agent;
  };
}

interface AgentOfFiles {
  readonly agent: HttpsAgent;
  /** The contents of the files; null: not configured. */
  readonly ca: string | null;
  readonly cert: string | null;
  readonly key: string | null;
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
    // createSecureContext ignores broken certificates in `ca`.
    if (material.ca !== undefined) new X509Certificate(material.ca);
    createSecureContext(material);
    return true;
  } catch {
    return false;
  }
}
