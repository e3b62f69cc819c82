import type { Clock } from '../../units/clock.js';
import { CredentialError } from '../credential-files.js';
import { createBearer } from './bearer.js';
import { loadPackage } from './load-package.js';
import { createRenewed, type Fetched } from './renewed.js';
import type { SignIn } from './sign-in.js';

const WHAT = 'google: asking for a token with the application default credentials';
const SCOPE = 'https://www.googleapis.com/auth/monitoring.read';
const REQUEST_MS = 5000;
/** What the metadata server and Google's token endpoint give holds an hour; for others it is the shortest on offer. */
const LIFETIME_MS = 3_600_000;

/**
 * Application default credentials: the file of $GOOGLE_APPLICATION_CREDENTIALS, that of gcloud, or the metadata server, which
 * on GKE stands for the workload identity of the pod.
 */
export function createGoogle(clock: Clock): SignIn {
  const fetch = async (): Promise<Fetched<string>> => {
    const { GoogleAuth } = await loadPackage('google-auth-library', () => import('google-auth-library'));
    // A new one each time: it would give its own old token again.
    const auth = new GoogleAuth({
      scopes: [SCOPE],
      // Not sent with a query. Without one the library would look for it, also by running gcloud, for seconds.
      projectId: 'promscaler',
      clientOptions: { transporterOptions: { timeout: REQUEST_MS } },
    });
    const client = await auth.getClient();
    const { token } = await client.getAccessToken();
    if (typeof token !== 'string' || token === '') throw new CredentialError(`${WHAT}: no token is given`);
    const expiry = client.credentials.expiry_date;
    return { value: token, lifetimeMs: typeof expiry === 'number' ? expiry - clock.now() : LIFETIME_MS };
  };
  return createBearer(createRenewed({ clock, what: WHAT, fetch }));
}
