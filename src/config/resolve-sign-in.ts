import type { SignInConfig } from '../prometheus/data-source/source-config.js';
import { SERVICE_DEFAULTS } from './service-defaults.js';
import type { SourceInput } from './source-schema.js';
import { resolveTls } from './resolve-tls.js';

/** Returns null without authentication. service-rules.ts allows at most one method. */
export function resolveSignIn(
  { oauth2, sigv4, azure, google }: SourceInput,
  resolvePath: (path: string) => string,
): SignInConfig | null {
  if (oauth2 !== undefined) {
    const { tokenUrl, clientId, clientSecretFile, scopes = [], endpointParams = {}, tls } = oauth2;
    return {
      way: 'oauth2',
      tokenUrl,
      clientId,
      clientSecretFile: resolvePath(clientSecretFile),
      scopes,
      endpointParams,
      tls: resolveTls(tls, resolvePath),
    };
  }
  if (sigv4 !== undefined) {
    const { region, service = SERVICE_DEFAULTS.sigv4Service, roleArn, profile, credentialsFile } = sigv4;
    return {
      way: 'sigv4',
      region,
      service,
      roleArn: roleArn ?? null,
      profile: profile ?? null,
      credentialsFile: credentialsFile === undefined ? null : resolvePath(credentialsFile),
    };
  }
  if (azure !== undefined) {
    const { clientId, tenantId, cloud = SERVICE_DEFAULTS.azureCloud } = azure;
    return { way: 'azure', clientId: clientId ?? null, tenantId: tenantId ?? null, cloud };
  }
  return google === undefined ? null : { way: 'google' };
}
