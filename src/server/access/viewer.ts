import type { Request } from 'express';
import type { Problem } from '../../scaler/problems/problem.js';

/** The permissions of the client of a request. */
export interface Viewer {
  readonly sees: (namespace: string) => boolean;
  /** Whether the client may see everything, including problems without a namespace. */
  readonly seesAll: boolean;
  /** Equal for clients that see the same namespaces. Part of tokens that depend on the visible namespaces. */
  readonly scope: string;
}

export const SEES_ALL: Viewer = { sees: () => true, seesAll: true, scope: '*' };
const SEES_NOTHING: Viewer = { sees: () => false, seesAll: false, scope: '' };

/**
 * How a client was authenticated. Another replica uses it to decide what the client may see. It contains no
 * credentials. `user`: the user of a token, as JSON that the access control of the other replica understands.
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

/** Returns a viewer that sees nothing for a request that was never admitted. */
export function viewerOf(request: Request): Viewer {
  return admissions.get(request)?.viewer ?? SEES_NOTHING;
}

/** Returns an anonymous identity for a request that was never admitted. */
export function identityOf(request: Request): Identity {
  return admissions.get(request)?.identity ?? ANYBODY;
}

const OF_OBJECT = /^scalers\.promscaler\.dev\/([^/]+)\/[^/]+$/;

/**
 * Returns the problems that a client may see. A file can contain documents of several namespaces, so only clients that
 * see all of them get its problems.
 */
export function visibleProblems(problems: readonly Problem[], viewer: Viewer): readonly Problem[] {
  if (viewer.seesAll) return problems;
  return problems.filter(({ file }) => {
    const namespace = OF_OBJECT.exec(file ?? '')?.[1];
    return namespace !== undefined && viewer.sees(namespace);
  });
}
