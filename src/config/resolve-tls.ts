import type { TlsFiles } from '../http/tls.js';
import type { SourceInput } from './source-schema.js';

export function resolveTls(
  input: SourceInput['tls'],
  resolvePath: (path: string) => string,
): TlsFiles | null {
  if (input === undefined) return null;
  const file = (path: string | undefined): string | null => (path === undefined ? null : resolvePath(path));
  return {
    caFile: file(input.caFile),
    certFile: file(input.certFile),
    keyFile: file(input.keyFile),
    serverName: input.serverName ?? null,
    insecureSkipVerify: input.insecureSkipVerify ?? false,
  };
}
