import { createSemaphore } from '../../units/semaphore.js';
import type { Clock } from '../../units/clock.js';
import { digest, type AccessControl, type Verdict } from './access-control.js';
import { SEES_ALL, type Identity, type Viewer } from './viewer.js';

/** TokenReviews and SubjectAccessReviews. `userOf` and `mayRead` reject if the API server does not answer. */
interface Reviews<User> {
  /** Returns the user of a token; null: the token is not valid. */
  readonly userOf: (token: string) => Promise<User | null>;
  /** Returns whether a user may read scalers in a namespace; null: in all namespaces. */
  readonly mayRead: (user: User, namespace: string | null) => Promise<boolean>;
  /** Parses a user that another replica has sent; null: the JSON does not describe a user. */
  readonly readUser: (json: unknown) => User | null;
}

interface ReviewOptions<User> {
  readonly reviews: Reviews<User>;
  readonly clock: Clock;
  /**
   * The namespaces that have scalers. Other namespaces are not reviewed, so that clients cannot cause any number of
   * reviews.
   */
  readonly namespaces: () => Iterable<string>;
  readonly onError: (error: unknown) => void;
}

/** How long a positive result is cached, which is also the delay until a revoked token or permission has an effect. */
const VALID_MS = 60_000;
const INVALID_MS = 10_000;
/** How long a valid token is exempt from the limit for unknown tokens. */
const KNOWN_MS = 3_600_000;
/**
 * Limits of the cache; the least recently used entry is removed. Valid tokens have a limit of their own: a flood of
 * unknown tokens, whose negative results are cached, must not remove them.
 */
const MAX_VALID_TOKENS = 1000;
const MAX_OTHER_TOKENS = 1000;
/**
 * Limits the reviews of unknown tokens, so that a flood of them neither loads the API server nor delays known clients.
 */
const UNKNOWN_PER_SECOND = 10;
const UNKNOWN_BURST = 50;
const REVIEWS_AT_ONCE = 4;

interface Cached<Value> {
  readonly value: Promise<Value>;
  readonly untilMs: number;
}

interface KnownToken<User> {
  /** The result of the last TokenReview, which may be outdated; null: there is none. */
  user: Cached<User | null> | null;
  /** Monotonic time at which the token was last found to be valid. */
  validMs: number;
  readonly permissions: Map<string, Cached<boolean>>;
}

/**
 * Admits clients whose token the API server accepts. They see the namespaces in which they may get Scaler objects.
 * Results are cached for a short time by a hash of the token, so that no token is stored.
 */
export function createReviewAccess<User>(options: ReviewOptions<User>): AccessControl {
  const { reviews, clock, namespaces, onError } = options;
  const validTokens = new Map<string, KnownToken<User>>();
  const otherTokens = new Map<string, KnownToken<User>>();
  const places = createSemaphore(REVIEWS_AT_ONCE);
  const mayAskUnknown = createBudget(clock);

  const keep = (hash: string, known: KnownToken<User>, isValid: boolean): void => {
    (isValid ? otherTokens : validTokens).delete(hash);
    const [tokens, most] = isValid ? [validTokens, MAX_VALID_TOKENS] : [otherTokens, MAX_OTHER_TOKENS];
    tokens.delete(hash);
    tokens.set(hash, known);
    const [oldest] = tokens.keys();
    if (oldest !== undefined && tokens.size > most) tokens.delete(oldest);
  };

  const userOf = (known: KnownToken<User>, token: string): Promise<User | null> => {
    const nowMs = clock.monotonicMs();
    if (known.user !== null && nowMs < known.user.untilMs) return known.user.value;
    const value = reviews.userOf(token);
    known.user = { value, untilMs: nowMs + INVALID_MS };
    value.then(
      (user) => {
        if (user === null) return;
        known.validMs = clock.monotonicMs();
        known.user = { value, untilMs: known.validMs + VALID_MS };
      },
      () => (known.user = null),
    );
    return value;
  };

  /**
   * Returns true if the token needs a review that counts toward the limit for unknown tokens: no result is cached, and
   * the token was not found valid within `KNOWN_MS`.
   */
  const needsBudget = ({ user, validMs }: KnownToken<User>): boolean => {
    const nowMs = clock.monotonicMs();
    return (user === null || nowMs >= user.untilMs) && nowMs - validMs > KNOWN_MS;
  };

  const mayRead = (known: KnownToken<User>, user: User, namespace: string | null): Promise<boolean> => {
    const nowMs = clock.monotonicMs();
    // The empty key is for all namespaces, because no namespace has an empty name.
    const key = namespace ?? '';
    const cached = known.permissions.get(key);
    if (cached !== undefined && nowMs < cached.untilMs) return cached.value;
    const value = places.acquire().then((release) => reviews.mayRead(user, namespace).finally(release));
    known.permissions.set(key, { value, untilMs: nowMs + VALID_MS });
    value.catch(() => known.permissions.delete(key));
    return value;
  };

  const viewerOf = async (known: KnownToken<User>, user: User, only: string | null): Promise<Viewer> => {
    const present = new Set(namespaces());
    for (const namespace of known.permissions.keys())
      if (namespace !== '' && !present.has(namespace)) known.permissions.delete(namespace);
    if (await mayRead(known, user, null)) return SEES_ALL;
    const wanted = only === null ? [...present].sort() : [only].filter((one) => present.has(one));
    const answers = await Promise.all(wanted.map((namespace) => mayRead(known, user, namespace)));
    const visible = new Set(wanted.filter((_, index) => answers[index] === true));
    return { sees: (namespace) => visible.has(namespace), seesAll: false, scope: [...visible].join() };
  };

  const check = async (token: string, namespace: string | null): Promise<Verdict> => {
    const hash = digest(token).toString('base64');
    const valid = validTokens.get(hash);
    const known = valid ??
      otherTokens.get(hash) ?? {
        user: null,
        validMs: -Infinity,
        permissions: new Map<string, Cached<boolean>>(),
      };
    if (needsBudget(known) && !mayAskUnknown()) return { kind: 'unavailable', message: TOO_MANY };
    keep(hash, known, valid !== undefined);
    const user = await userOf(known, token);
    keep(hash, known, user !== null);
    if (user === null) return { kind: 'refused' };
    return admitted(user, await viewerOf(known, user, namespace));
  };

  /** Reviews only the permissions of the user: the replica that sent the identity has already reviewed the token. */
  const checkIdentity = async (identity: Identity, namespace: string | null): Promise<Verdict> => {
    const user = identity.kind === 'user' ? reviews.readUser(identity.user) : null;
    if (user === null) return { kind: 'refused' };
    const hash = `user ${digest(JSON.stringify(user)).toString('base64')}`;
    const known = validTokens.get(hash) ?? { user: null, validMs: -Infinity, permissions: new Map() };
    keep(hash, known, true);
    return admitted(user, await viewerOf(known, user, namespace));
  };

  const settled = async (checking: Promise<Verdict>): Promise<Verdict> => {
    try {
      return await checking;
    } catch (error) {
      onError(error);
      return { kind: 'unavailable', message: UNREACHABLE };
    }
  };

  return {
    check: (token, namespace) => settled(check(token, namespace)),
    checkIdentity: (identity, namespace) => settled(checkIdentity(identity, namespace)),
  };
}

function admitted(user: unknown, viewer: Viewer): Verdict {
  return { kind: 'admitted', viewer, identity: { kind: 'user', user } };
}

const TOO_MANY = 'too many unknown tokens are being checked: retry later';
const UNREACHABLE =
  'the API server did not answer a TokenReview or SubjectAccessReview: retry later, or see the log of promscaler';

/** Returns a function that counts a review of an unknown token, and returns false if the limit is reached. */
function createBudget(clock: Clock): () => boolean {
  let tokens = UNKNOWN_BURST;
  let atMs = clock.monotonicMs();
  return () => {
    const nowMs = clock.monotonicMs();
    tokens = Math.min(UNKNOWN_BURST, tokens + ((nowMs - atMs) / 1000) * UNKNOWN_PER_SECOND);
    atMs = nowMs;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}
