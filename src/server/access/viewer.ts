import type { Request } from 'express';
import type { Problem } from '../../scaler/problems/problem.js';

/** What the client of a request may see. */
export interface Viewer {
  readonly sees: (namespace: string) => boolean;
  /** Whether the client may see everything, including problems that belong to no namespace. */
  readonly seesAll: boolean;
  /**
   * A string that is equal for all clients that see the same namespaces. It identifies shared event streams and is part
   * of the revision of an overview.
   */
  readonly scope: string;
}

export const SEES_ALL: Viewer = { sees: () => true, seesAll: true, scope: '*' };
const SEES_NOTHING: Viewer = { sees: () => false, seesAll: false, scope: '' };

/**
 * How a client was authenticated, without its credentials. Another replica can decide from it what the client may see.
 * `user`: the user of the token, as JSON that the access control of the other replica can read.
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

/** Returns what the client of a request may see: nothing if the request was not admitted. */
export function viewerOf(request: Request): Viewer {
  return admissions.get(request)?.viewer ?? SEES_NOTHING;
}

/** Returns the identity of the client; `ANYBODY` if the request was not admitted. */
export function identityOf(request: Request): Identity {
  return admissions.get(request)?.identity ?? ANYBODY;
}

const OF_OBJECT = /^scalers\.promscaler\.dev\/([^/]+)\/[^/]+$/;

/**
 * Returns the problems that a client may see. Problems of a file are only for clients that see all namespaces, because
 * a file may contain documents of several namespaces.
 */
export function visibleProblems(problems: readonly Problem[], viewer: Viewer): readonly Problem[] {
  if (viewer.seesAll) return problems;
  return problems.filter(({ file }) => {
    const namespace = OF_OBJECT.exec(file ?? '')?.[1];
    return namespace !== undefined && viewer.sees(namespace);
  });
}
