import type { SendResult } from '../../../prometheus/send.js';
import type { SourceConfig } from '../../../prometheus/source-config.js';

type Failure = Extract<SendResult, { kind: 'failed' }>;

/** Why a server did not answer at all, and what to do about it. Pure. */
export function whyNotConnected(
  url: string,
  { reason, message: words, code = null }: Failure,
  { name }: Pick<SourceConfig, 'name'>,
): { readonly message: string; readonly mend: string } {
  const key = `prometheus.${name}`;
  const message = `${url} is not reachable: ${words}`;
  if (reason === 'timeout') return { message, mend: NETWORK_MEND };
  return { message, mend: mendOfCode(code ?? '', { url, key }) };
}

const NETWORK_MEND =
  'the packets are lost on the way: look for a NetworkPolicy or firewall between here and that address, and whether the host is right';

function mendOfCode(code: string, { url, key }: { readonly url: string; readonly key: string }): string {
  const host = URL.canParse(url) ? new URL(url).hostname : url;
  switch (code) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return (
        `${key}.urls: the host ${host} has no address here. In the cluster write http://SERVICE.NAMESPACE:PORT; outside of it ` +
        'run `kubectl port-forward -n NAMESPACE svc/SERVICE 9090` and give --prometheus http://localhost:9090'
      );
    case 'ECONNREFUSED':
      return `nothing listens on that port: look at the port with \`kubectl get svc -A\`, write it into ${key}.urls (9090 for Prometheus, 80 behind many charts' Services)`;
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ETIMEDOUT':
      return NETWORK_MEND;
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'UNABLE_TO_GET_ISSUER_CERT':
      return `${key}.tls.caFile: FILE, with the certificate of the authority that signed it (or serve plain http inside the cluster)`;
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `${key}.tls.serverName: the name that the certificate is for`;
    case 'CERT_HAS_EXPIRED':
      return 'renew the certificate of that server';
    case 'EPROTO':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
      return `that port speaks plain http: ${key}.urls: ['${url.replace(/^https:/i, 'http:')}']`;
    case 'ECONNRESET':
    case 'ERR_BAD_RESPONSE':
      return `the server hangs up: it may speak https (write https:// into ${key}.urls), or a mesh or proxy refuses us`;
    case 'CREDENTIAL_FILE':
      return `mount the file that ${key} names (chart value \`secrets\`), or mend its path; the account that runs this must be able to read it`;
    case 'SIGN_IN':
      return `mend what ${key} signs in with: ${key}.oauth2, ${key}.sigv4, ${key}.azure or ${key}.google`;
    default:
      return code.startsWith('HPE_')
        ? `what listens there does not speak HTTP (gRPC of a Thanos store?): write the HTTP port into ${key}.urls`
        : `look whether ${key}.urls is the address of a Prometheus, from where this runs`;
  }
}
