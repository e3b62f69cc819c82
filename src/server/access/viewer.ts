import type { Request } from 'express';

/** The client of a request, as far as its permissions are concerned. */
export interface Viewer {
  /** Whether the client may see the scalers of a namespace. */
  readonly sees: (namespace: string) => boolean;
  /** Whether the client may see everything, also what belongs to no namespace. */
  readonly seesAll: boolean;
  /** Equal for clients that see the same namespaces, as part of tokens that depend on them. */
  readonly scope: string;
}

export const SEES_ALL: Viewer = { sees: () => true, seesAll: true, scope: '*' };
const SEES_NOTHING: Viewer = { sees: () => false, seesAll: false, scope: '' };

/**
 * How a client was authenticated, for another replica that decides what it may see. It contains no credentials. `user`:
 * the user of a token, as JSON that the access control of the other replica understands.
 */
export type Identity =
  | { readonly kind: 'anybody' }
  | { readonly kind: 'token holder' }
  | { readonly kind: 'user'; readonly user: unknown };

export const ANYBODY: Identity = { kind: 'anybody' };

interface Admission {
  readonly viewer: Viewer;
  readonly identity: Identity;
}

const admissions = new WeakMap<Request, Admission>();

export function admit(request: Request, viewer: Viewer, identity: Identity): void {
  admissions.set(request, { viewer, identity });
}

/** A request that was never admitted sees nothing. */
export function viewerOf(request: Request): Viewer {
  return admissions.get(request)?.viewer ?? SEES_NOTHING;
}

/** A request that was never admitted has no more permissions than anybody. */
export function identityOf(request: Request): Identity {
  return admissions.get(request)?.identity ?? ANYBODY;
}
