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

const viewers = new WeakMap<Request, Viewer>();

export function admit(request: Request, viewer: Viewer): void {
  viewers.set(request, viewer);
}

/** A request that was never admitted sees nothing. */
export function viewerOf(request: Request): Viewer {
  return viewers.get(request) ?? SEES_NOTHING;
}
