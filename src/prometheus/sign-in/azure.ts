import { parseJson } from '../../units/json-bounds.js';
import type * as Msal from '@azure/msal-node';
import type { INetworkModule, NetworkRequestOptions, NetworkResponse } from '@azure/msal-node';
import type { Clock } from '../../units/clock.js';
import { createSecretFile, CredentialError } from '../../http/credentials.js';
import type { AzureConfig } from '../data-source/source-config.js';
import {
  createBearer,
  createRenewed,
  type Environment,
  type Fetched,
  loadPackage,
  type SignIn,
} from './sign-in.js';
import { createTokenHttp, type TokenHttp } from './token-http.js';

const WHAT = 'azure: requesting a token';

/** For each cloud, the authority that issues tokens and the scope of Azure Monitor. */
const CLOUDS: Readonly<
  Record<AzureConfig['cloud'], { readonly authority: string; readonly resource: string }>
> = {
  public: {
    authority: 'https://login.microsoftonline.com',
    resource: 'https://prometheus.monitor.azure.com',
  },
  usgovernment: {
    authority: 'https://login.microsoftonline.us',
    resource: 'https://prometheus.monitor.azure.us',
  },
  china: {
    authority: 'https://login.partner.microsoftonline.cn',
    resource: 'https://prometheus.monitor.azure.cn',
  },
};

/**
 * Authenticates with a token of Microsoft Entra ID. If the pod has a federated token of AKS workload identity, uses it
 * ($AZURE_FEDERATED_TOKEN_FILE, $AZURE_CLIENT_ID, $AZURE_TENANT_ID; the config overrides the last two). Otherwise uses
 * the managed identity of the virtual machine. The library sends its requests with `http`.
 */
export function createAzure(
  config: AzureConfig,
  clock: Clock,
  env: Environment,
  http: TokenHttp = createTokenHttp({ clock, tls: null, what: WHAT }),
): SignIn {
  const tokenFile = env['AZURE_FEDERATED_TOKEN_FILE'] ?? '';
  const fetch =
    tokenFile === '' ? managedIdentity(config, http) : workloadIdentity(config, clock, { env, http });
  const inTime = async (signal: AbortSignal): Promise<Fetched<string>> => {
    const result = await fetch(signal);
    if (result === null || result.accessToken === '')
      throw new CredentialError(`${WHAT}: no token was issued`);
    const { accessToken: value, expiresOn } = result;
    return { value, lifetimeMs: expiresOn === null ? null : expiresOn.getTime() - clock.now() };
  };
  return createBearer(createRenewed({ clock, what: WHAT, fetch: inTime }));
}

type FetchToken = (
  signal: AbortSignal,
) => Promise<{ readonly accessToken: string; readonly expiresOn: Date | null } | null>;

function workloadIdentity(
  config: AzureConfig,
  clock: Clock,
  { env, http }: { readonly env: Environment; readonly http: TokenHttp },
): FetchToken {
  const { authority, resource } = CLOUDS[config.cloud];
  const setting = '$AZURE_FEDERATED_TOKEN_FILE';
  const file = createSecretFile({ path: env['AZURE_FEDERATED_TOKEN_FILE'] ?? '', clock, setting });
  const clientId = config.clientId ?? env['AZURE_CLIENT_ID'] ?? '';
  const tenantId = config.tenantId ?? env['AZURE_TENANT_ID'] ?? '';
  return async (signal) => {
    if (clientId === '' || tenantId === '')
      throw new CredentialError(`${WHAT}: set azure.clientId and azure.tenantId`);
    const clientAssertion = await file.read(true);
    const msal = await loadMsal();
    const application = new msal.ConfidentialClientApplication({
      auth: {
        clientId,
        authority: `${authority}/${tenantId}`,
        knownAuthorities: [new URL(authority).host],
        clientAssertion,
      },
      system: { networkClient: networkOver(http, signal), disableInternalRetries: true },
    });
    return application.acquireTokenByClientCredential({ scopes: [`${resource}/.default`], skipCache: true });
  };
}

function managedIdentity({ clientId, cloud }: AzureConfig, http: TokenHttp): FetchToken {
  return async (signal) => {
    const msal = await loadMsal();
    const application = new msal.ManagedIdentityApplication({
      ...(clientId === null ? {} : { managedIdentityIdParams: { userAssignedClientId: clientId } }),
      system: { networkClient: networkOver(http, signal), disableInternalRetries: true },
    });
    return application.acquireToken({ resource: CLOUDS[cloud].resource, forceRefresh: true });
  };
}

function loadMsal(): Promise<typeof Msal> {
  return loadPackage('@azure/msal-node', () => import('@azure/msal-node'));
}

function networkOver(http: TokenHttp, signal: AbortSignal): INetworkModule {
  const ask = async <T>(
    method: 'GET' | 'POST',
    url: string,
    { headers = {}, body = '' }: NetworkRequestOptions = {},
  ): Promise<NetworkResponse<T>> => {
    const answer = await http({ method, url, headers, body, signal });
    const json = parseJson(answer.body);
    if (json === undefined) throw new CredentialError(`${WHAT}: the answer is not JSON`);
    return { headers: {}, status: answer.status, body: json as T };
  };
  return {
    sendGetRequestAsync: (url, options) => ask('GET', url, options),
    sendPostRequestAsync: (url, options) => ask('POST', url, options),
  };
}
