import type { SendResult } from '../../prometheus/client/request.js';
import type { SourceConfig } from '../../prometheus/data-source/source-config.js';

type Failure = Extract<SendResult, { kind: 'failed' }>;

export function explainConnectionFailure(
  url: string,
  { reason, message: error, code = null }: Failure,
  { name }: Pick<SourceConfig, 'name'>,
): { readonly message: string; readonly fix: string } {
  const key = `prometheus.${name}`;
  const message = `${url} is not reachable: ${error}`;
  if (reason === 'timeout') return { message, fix: NETWORK_FIX };
  return { message, fix: fixForCode(code ?? '', { url, key }) };
}

const NETWORK_FIX =
  'check for a NetworkPolicy or firewall that drops packets to this address, and that the host name is correct';

function fixForCode(code: string, { url, key }: { readonly url: string; readonly key: string }): string {
  const host = URL.canParse(url) ? new URL(url).hostname : url;
  switch (code) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return (
        `${key}.urls: the host name ${host} cannot be resolved. Inside the cluster use http://SERVICE.NAMESPACE:PORT; outside, ` +
        'run `kubectl port-forward -n NAMESPACE svc/SERVICE 9090` and pass --prometheus http://localhost:9090'
      );
    case 'ECONNREFUSED':
      return `no process listens on this port: \`kubectl get svc -A\` lists the ports; set the port in ${key}.urls (9090 for Prometheus, 80 for the Services of many charts)`;
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ETIMEDOUT':
      return NETWORK_FIX;
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'UNABLE_TO_GET_ISSUER_CERT':
      return `${key}.tls.caFile: FILE, with the certificate of the CA that signed the server certificate (or use plain http inside the cluster)`;
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `${key}.tls.serverName: NAME, with a name in the certificate of the server`;
    case 'CERT_HAS_EXPIRED':
      return 'renew the certificate of the server';
    case 'EPROTO':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
      return `the port serves plain http: ${key}.urls: ['${url.replace(/^https:/i, 'http:')}']`;
    case 'ECONNRESET':
    case 'ERR_BAD_RESPONSE':
      return `the server closed the connection: if it serves https, use https:// in ${key}.urls; otherwise a service mesh or proxy may reject the client`;
    case 'CREDENTIAL_FILE':
      return `mount the credentials file of ${key} (chart value \`secrets\`), or fix its path; the process must have permission to read it`;
    case 'SIGN_IN':
      return `fix the authentication of ${key}: ${key}.oauth2, ${key}.sigv4, ${key}.azure or ${key}.google`;
    default:
      return code.startsWith('HPE_')
        ? `the server does not speak HTTP (a gRPC port of Thanos?): set the HTTP port in ${key}.urls`
        : `check that ${key}.urls is the address of a Prometheus that is reachable from this machine`;
  }
}
