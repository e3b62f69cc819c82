import type { Clock } from '../../units/clock.js';
import { CredentialError } from '../../http/credentials.js';
import { createBearer, createRenewed, type Fetched, loadPackage, type SignIn } from './sign-in.js';

const WHAT = 'google: requesting a token with the application default credentials';
const SCOPE = 'https://www.googleapis.com/auth/monitoring.read';
const REQUEST_MS = 5000;
/**
 * How long a token is used. The metadata server and Google's token endpoint issue tokens for an hour, other issuers for
 * at least that long.
 */
const LIFETIME_MS = 3_600_000;

/**
 * Authenticates with the application default credentials: the file in $GOOGLE_APPLICATION_CREDENTIALS, the file of
 * gcloud, or the metadata server, which on GKE provides the workload identity of the pod.
 */
export function createGoogle(clock: Clock): SignIn {
  const fetch = async (): Promise<Fetched<string>> => {
    const { GoogleAuth } = await loadPackage('google-auth-library', () => import('google-auth-library'));
    // Created for each token, because an existing object would return its old token again.
    const auth = new GoogleAuth({
      scopes: [SCOPE],
      // The project is never sent with a query. If it is unset, the library searches for a project for seconds and even
      // runs gcloud.
      projectId: 'promscaler',
      clientOptions: { transporterOptions: { timeout: REQUEST_MS } },
    });
    const client = await auth.getClient();
    const { token } = await client.getAccessToken();
    if (typeof token !== 'string' || token === '') throw new CredentialError(`${WHAT}: no token was issued`);
    const expiry = client.credentials.expiry_date;
    return { value: token, lifetimeMs: typeof expiry === 'number' ? expiry - clock.now() : LIFETIME_MS };
  };
  return createBearer(createRenewed({ clock, what: WHAT, fetch }));
}
