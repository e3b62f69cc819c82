import { createHash, timingSafeEqual } from 'node:crypto';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { admit, ANYBODY, SEES_ALL } from './viewer.js';
import type { Identity, Viewer } from './viewer.js';

export type Verdict =
  | { readonly kind: 'admitted'; readonly viewer: Viewer; readonly identity: Identity }
  /** The token is invalid. */
  | { readonly kind: 'refused' }
  /** The token cannot be checked now. */
  | { readonly kind: 'unavailable'; readonly message: string };

/** Decides what the client with a bearer token may see. */
export interface AccessControl {
  /** `namespace`: the only namespace of the request; null: the request is about all namespaces. Never rejects. */
  readonly check: (token: string, namespace: string | null) => Promise<Verdict>;
  /** Same as `check`, for a client that another replica has authenticated. Never rejects. */
  readonly checkIdentity: (identity: Identity, namespace: string | null) => Promise<Verdict>;
}

/** Replaces `Authorization`, which the service proxy removes because it is for the API server. */
export const TOKEN_HEADER = 'x-promscaler-authorization';

/** Admits a request with a valid bearer token, or any request if there is no access control. */
export function createAccessCheck(access: AccessControl | null): RequestHandler {
  return (request, response, next) => {
    if (access === null) {
      admit(request, SEES_ALL, ANYBODY);
      next();
      return;
    }
    const token = tokenIn(request.headers.authorization) ?? tokenIn(request.headers[TOKEN_HEADER]);
    if (token === null) {
      response.set('WWW-Authenticate', 'Bearer realm="promscaler"').status(401).json({ error: NO_TOKEN });
      return;
    }
    access
      .check(token, namespaceOf(request))
      .then((verdict) => applyVerdict(verdict, { request, response, next }))
      .catch(next);
  };
}

export function applyVerdict(
  verdict: Verdict,
  {
    request,
    response,
    next,
  }: { readonly request: Request; readonly response: Response; readonly next: NextFunction },
): void {
  if (verdict.kind === 'admitted') {
    admit(request, verdict.viewer, verdict.identity);
    next();
  } else if (verdict.kind === 'refused') {
    response.set('WWW-Authenticate', 'Bearer realm="promscaler", error="invalid_token"');
    response.status(401).json({ error: 'the bearer token is invalid or expired' });
  } else {
    response.set('Retry-After', '2').status(503).json({ error: verdict.message });
  }
}

const NO_TOKEN = `a bearer token is required: send the header Authorization, or ${TOKEN_HEADER} through the service proxy of the API server`;

function tokenIn(header: string | readonly string[] | undefined): string | null {
  if (typeof header !== 'string') return null;
  return /^Bearer +([\w.~+/=-]+) *$/i.exec(header)?.[1] ?? null;
}

/** Returns the only namespace of a request; null: the request is about all namespaces. */
export function namespaceOf({
  params,
  query,
}: {
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
}): string | null {
  const namespace = params['namespace'] ?? query['namespace'];
  return typeof namespace === 'string' ? namespace : null;
}

/** Admits the clients with one token, which see everything. `readToken` returns null while the token cannot be read. */
export function createTokenAccess(readToken: () => Promise<string | null>): AccessControl {
  const admitted: Verdict = { kind: 'admitted', viewer: SEES_ALL, identity: { kind: 'token holder' } };
  return {
    check: async (token) => {
      const expected = await readToken();
      if (expected === null)
        return { kind: 'unavailable', message: 'the file of server.auth.bearerTokenFile cannot be read' };
      // Digests have equal lengths for any input of the client.
      const isSame = timingSafeEqual(digest(token), digest(expected));
      return isSame ? admitted : { kind: 'refused' };
    },
    checkIdentity: ({ kind }) => Promise.resolve(kind === 'token holder' ? admitted : { kind: 'refused' }),
  };
}

export function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
