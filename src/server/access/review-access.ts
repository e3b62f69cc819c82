import { createSemaphore } from '../../units/semaphore.js';
import type { Clock } from '../../units/clock.js';
import { digest } from './access-control.js';
import type { AccessControl, Verdict } from './access-control.js';
import { SEES_ALL } from './viewer.js';
import type { Identity, Viewer } from './viewer.js';

/** The API server. Both functions reject if it does not answer. */
interface Reviews<User> {
  /** Null: the token is invalid. */
  readonly userOf: (token: string) => Promise<User | null>;
  /** Null: all namespaces. */
  readonly mayRead: (user: User, namespace: string | null) => Promise<boolean>;
  /** Parses the user in a request of another replica; null: the JSON is not a user. */
  readonly readUser: (json: unknown) => User | null;
}

interface ReviewOptions<User> {
  readonly reviews: Reviews<User>;
  readonly clock: Clock;
  /** The namespaces with scalers. Only these are reviewed, so clients cannot cause an unlimited number of reviews. */
  readonly namespaces: () => Iterable<string>;
  /** Receives the error of the API server. */
  readonly onError: (error: unknown) => void;
}

/** Maximum delay until a revoked token or permission takes effect. */
const VALID_MS = 60_000;
const INVALID_MS = 10_000;
/** How long a valid token is exempt from the limit for unknown tokens. */
const KNOWN_MS = 3_600_000;
/**
 * The least recently used entry is evicted. Valid and other tokens have separate shares: a flood of unknown tokens,
 * which are cached with their negative result, must not evict valid tokens.
 */
const MAX_VALID_TOKENS = 1000;
const MAX_OTHER_TOKENS = 1000;
/** Limit for reviews of unknown tokens. A flood of them neither loads the API server nor locks out known clients. */
const UNKNOWN_PER_SECOND = 10;
const UNKNOWN_BURST = 50;
const REVIEWS_AT_ONCE = 4;

interface Cached<Value> {
  readonly value: Promise<Value>;
  readonly untilMs: number;
}

interface KnownToken<User> {
  /** Null: not reviewed yet. */
  user: Cached<User | null> | null;
  /** When the token was last found valid, on the monotonic clock. */
  validMs: number;
  readonly permissions: Map<string, Cached<boolean>>;
}

/**
 * Admits the tokens that the API server accepts. Their clients see the namespaces in which they may get scalers.
 * Results are cached for a short time, with a hash of the token as key.
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

  /** Returns false for a token that was valid recently or has a cached result. */
  const needsBudget = ({ user, validMs }: KnownToken<User>): boolean => {
    const nowMs = clock.monotonicMs();
    return (user === null || nowMs >= user.untilMs) && nowMs - validMs > KNOWN_MS;
  };

  const mayRead = (known: KnownToken<User>, user: User, namespace: string | null): Promise<boolean> => {
    const nowMs = clock.monotonicMs();
    // No namespace has an empty name, so it can stand for all namespaces.
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

  /** The other replica has reviewed the token. This one reviews only the permissions. */
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

const TOO_MANY = 'too many unknown tokens are checked: retry later';
const UNREACHABLE =
  'the API server did not answer a TokenReview or SubjectAccessReview: retry later, or see the log of promscaler';

/** Returns whether one more review is within the limit for unknown tokens. */
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
