import { TLSSocket } from 'node:tls';

/** Returns the DNS names in the certificate of the server behind a socket; null if the certificate was not verified. */
export function serverNames(socket: unknown): readonly string[] | null {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return null;
  // For example `DNS:kubernetes, DNS:kubernetes.default, IP Address:10.96.0.1`.
  const names = socket.getPeerCertificate().subjectaltname ?? '';
  return Array.from(names.matchAll(/(?:^|, )DNS:([A-Za-z0-9.*-]+)(?=,|$)/g), ([, name]) => name ?? '');
}
