import { createHash, timingSafeEqual } from 'node:crypto';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { admit, ANYBODY, SEES_ALL, type Identity, type Viewer } from './viewer.js';

export type Verdict =
  | { readonly kind: 'admitted'; readonly viewer: Viewer; readonly identity: Identity }
  /** The token is not valid. */
  | { readonly kind: 'refused' }
  /** The token cannot be checked at the moment. */
  | { readonly kind: 'unavailable'; readonly message: string };

/** Decides what a client may see, according to its bearer token. */
export interface AccessControl {
  /**
   * Returns what the client with this token may see. `namespace`: the only namespace that the request is about; null:
   * the request is about all namespaces. Never rejects.
   */
  readonly check: (token: string, namespace: string | null) => Promise<Verdict>;
  /** Like `check`, but for a client that another replica has authenticated. Never rejects. */
  readonly checkIdentity: (identity: Identity, namespace: string | null) => Promise<Verdict>;
}

/**
 * Header for the token of a client behind the service proxy of the API server. The proxy uses the header
 * `Authorization` itself and removes it.
 */
export const TOKEN_HEADER = 'x-promscaler-authorization';

/** Admits requests with a valid bearer token. Without access control, admits all requests. */
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

/** Returns the only namespace that a request is about; null: it is about all namespaces. */
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

/**
 * Admits clients with a single fixed token, which may see everything. `readToken` returns null while the token cannot
 * be read.
 */
export function createTokenAccess(readToken: () => Promise<string | null>): AccessControl {
  const admitted: Verdict = { kind: 'admitted', viewer: SEES_ALL, identity: { kind: 'token holder' } };
  return {
    check: async (token) => {
      const expected = await readToken();
      if (expected === null)
        return { kind: 'unavailable', message: 'the file of server.auth.bearerTokenFile cannot be read' };
      // The digests are compared, because they have the same length whatever the client sends.
      const isSame = timingSafeEqual(digest(token), digest(expected));
      return isSame ? admitted : { kind: 'refused' };
    },
    checkIdentity: ({ kind }) => Promise.resolve(kind === 'token holder' ? admitted : { kind: 'refused' }),
  };
}

export function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
