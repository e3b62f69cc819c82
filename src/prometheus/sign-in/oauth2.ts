import type { Clock } from '../../units/clock.js';
import { createSecretFile, CredentialError } from '../../http/credentials.js';
import type { OAuth2Config } from '../data-source/source-config.js';
import { createBearer, createRenewed, type Fetched, loadPackage, type SignIn } from './sign-in.js';
import { createTokenHttp, type TokenHttp } from './token-http.js';

/**
 * Requests tokens with the client credentials grant of RFC 6749, section 4.4. The client authenticates with HTTP Basic,
 * as with `oauth2` in Prometheus.
 */
export function createOAuth2(config: OAuth2Config, clock: Clock): SignIn {
  const what = `oauth2: the token endpoint ${new URL(config.tokenUrl).host}`;
  const http = createTokenHttp({ clock, tls: config.tls, what });
  const setting = 'oauth2.clientSecretFile';
  const secretFile = createSecretFile({ path: config.clientSecretFile, clock, setting });

  const fetch = async (signal: AbortSignal): Promise<Fetched<string>> => {
    const secret = await secretFile.read(true);
    const oauth = await loadPackage('oauth4webapi', () => import('oauth4webapi'));
    const { tokenUrl, clientId: client_id, scopes, endpointParams } = config;
    const server = { issuer: new URL(tokenUrl).origin, token_endpoint: tokenUrl };
    const parameters = { ...endpointParams, ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }) };
    try {
      const response = await oauth.clientCredentialsGrantRequest(
        server,
        { client_id },
        oauth.ClientSecretBasic(secret),
        parameters,
        {
          signal,
          [oauth.customFetch]: (url, { headers, body }) => ask(http, { url, headers, body, signal }),
          // The URL in the config decides whether TLS is used: an identity provider inside the cluster may have none,
          // like Prometheus.
          // eslint-disable-next-line @typescript-eslint/no-deprecated -- deprecated only to be conspicuous
          [oauth.allowInsecureRequests]: true,
        },
      );
      const answer = await oauth.processClientCredentialsResponse(server, { client_id }, response);
      if (answer.token_type !== 'bearer') throw new CredentialError(`${what} returned no bearer token`);
      const seconds = answer.expires_in;
      return { value: answer.access_token, lifetimeMs: seconds === undefined ? null : seconds * 1000 };
    } catch (error) {
      if (
        error instanceof oauth.ResponseBodyError &&
        /^[a-z_]{1,40}$/.test(error.error) &&
        error.error !== secret
      )
        throw new CredentialError(
          `${what} rejected the request (HTTP ${error.status}, ${error.error}): check oauth2.clientId, clientSecretFile and scopes`,
        );
      if (error instanceof oauth.OperationProcessingError)
        throw new CredentialError(`${what} returned no OAuth 2.0 answer: check oauth2.tokenUrl`);
      throw error;
    }
  };
  return createBearer(createRenewed({ clock, what, fetch }));
}

async function ask(
  http: TokenHttp,
  request: {
    readonly url: string;
    readonly headers: Record<string, string>;
    readonly body: URLSearchParams;
    readonly signal: AbortSignal;
  },
): Promise<Response> {
  const { url, headers, body, signal } = request;
  const answer = await http({ method: 'POST', url, headers, body: body.toString(), signal });
  const isBodyless = [204, 205, 304].includes(answer.status);
  return new Response(isBodyless ? null : answer.body, {
    status: answer.status,
    headers: answer.contentType === null ? {} : { 'content-type': answer.contentType },
  });
}
