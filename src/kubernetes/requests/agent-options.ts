import type { AgentOptions } from 'node:https';
import type { TlsMaterial } from '../access/connection.js';

/** Returns the options of HTTPS connections to the API server: TLS 1.2 or newer, verified unless `tls` says not to. */
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
