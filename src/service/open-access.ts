import type { ServiceConfig } from '../config/resolve-service-config.js';
import type { Transport } from '../kubernetes/requests/transport.js';
import { createUserReviews } from '../kubernetes/user-reviews.js';
import { createSecretFile } from '../http/credentials.js';
import { createTokenAccess } from '../server/access/access-control.js';
import type { AccessControl } from '../server/access/access-control.js';
import { createReviewAccess } from '../server/access/review-access.js';
import type { Clock } from '../units/clock.js';
import type { Log } from '../units/log.js';

interface AccessParts {
  readonly transport: Transport;
  readonly namespaces: () => Iterable<string>;
  readonly clock: Clock;
  readonly log: Log;
}

const LOG_PERIOD_MS = 60_000;

/** Opens the access control of the API; null: everybody may read everything. */
export function openAccess(
  { auth }: ServiceConfig['server'],
  { transport, namespaces, clock, log }: AccessParts,
): AccessControl | null {
  if (auth === null) return null;
  if (auth.kind === 'token') {
    const file = createSecretFile({ path: auth.bearerTokenFile, clock });
    return createTokenAccess(() => file.read().catch(() => null));
  }
  let loggedMs = -Infinity;
  // Clients retry, so each of them would log a line per request.
  const onError = (error: unknown): void => {
    if (clock.monotonicMs() - loggedMs < LOG_PERIOD_MS) return;
    loggedMs = clock.monotonicMs();
    log.warn('failed to check a client of the API; it is refused', { error: messageOf(error) });
  };
  return createReviewAccess({ reviews: createUserReviews(transport), clock, namespaces, onError });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
