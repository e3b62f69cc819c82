import type { Clock } from '../../units/clock.js';
import type { SigV4Config } from '../data-source/source-config.js';
import { createRenewed, type Fetched, loadPackage, type OutgoingRequest, type SignIn } from './sign-in.js';

interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
}

/** Statuses after which new keys are requested. AWS rejects expired keys with 403. */
const REFUSALS: readonly number[] = [401, 403];
const CONNECT_MS = 2000;
const REQUEST_MS = 5000;

/**
 * Signs each request with AWS Signature Version 4. The keys come from the file or the profile in the config, otherwise
 * from the default chain of AWS: environment, web identity of the pod (IRSA), pod identity agent, instance role.
 */
export function createSigV4(config: SigV4Config, clock: Clock): SignIn {
  const fetch = async (): Promise<Fetched<AwsKeys>> => {
    const value = await findKeys(config);
    const lifetimeMs = value.expiration === undefined ? null : value.expiration.getTime() - clock.now();
    return { value, lifetimeMs };
  };
  const keys = createRenewed({ clock, what: 'sigv4: finding AWS credentials', fetch });
  return async (request, signal) => {
    const value = await keys.get(signal);
    const { secretAccessKey, sessionToken } = value;
    return {
      headers: await signRequest(request, config, { keys: value, date: new Date(clock.now()) }),
      secrets: [secretAccessKey, ...(sessionToken === undefined ? [] : [sessionToken])],
      renew: (status) => REFUSALS.includes(status) && keys.refuse(value),
    };
  };
}

async function findKeys({ region, roleArn, profile, credentialsFile }: SigV4Config): Promise<AwsKeys> {
  const aws = await loadPackage(
    '@aws-sdk/credential-providers',
    () => import('@aws-sdk/credential-providers'),
  );
  const clientConfig = {
    region,
    maxAttempts: 2,
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      requestTimeout: REQUEST_MS,
      throwOnRequestTimeout: true,
    },
  };
  const named = profile === null ? {} : { profile };
  const base =
    credentialsFile === null
      ? aws.fromNodeProviderChain({ ...named, clientConfig, ignoreCache: true })
      : aws.fromIni({
          profile: 'default',
          ...named,
          filepath: credentialsFile,
          clientConfig,
          ignoreCache: true,
        });
  if (roleArn === null) return base();
  return aws.fromTemporaryCredentials({
    masterCredentials: base,
    params: { RoleArn: roleArn, RoleSessionName: 'promscaler' },
    clientConfig,
  })();
}

/** Returns the headers of the signature, to be added to the request. */
async function signRequest(
  { method, url, body, contentType }: OutgoingRequest,
  { region, service }: SigV4Config,
  { keys, date }: { readonly keys: AwsKeys; readonly date: Date },
): Promise<Readonly<Record<string, string>>> {
  const { SignatureV4 } = await loadPackage('@smithy/signature-v4', () => import('@smithy/signature-v4'));
  const { Sha256 } = await loadPackage('@aws-crypto/sha256-js', () => import('@aws-crypto/sha256-js'));
  const { protocol, hostname, host, pathname, searchParams } = new URL(url);
  const signer = new SignatureV4({
    credentials: keys,
    region,
    service,
    sha256: Sha256,
    applyChecksum: false,
  });
  const { headers } = await signer.sign(
    {
      method,
      protocol,
      hostname,
      path: pathname,
      query: Object.fromEntries(searchParams),
      headers: { host, ...(contentType === null ? {} : { 'content-type': contentType }) },
      ...(body === null ? {} : { body }),
    },
    { signingDate: date },
  );
  const own = new Set(['host', 'content-type']);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !own.has(name)));
}
