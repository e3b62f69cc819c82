import type { RequestHandler } from 'express';

const MAX_URL_LENGTH = 2048;

const SAFE_HEADERS: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Content-Security-Policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Cache-Control': 'no-store',
};

/** The defaults of Node.js are a minute or more, and an unlimited number of connections. */
export const SERVER_LIMITS = {
  headersTimeout: 5000,
  requestTimeout: 10_000,
  keepAliveTimeout: 5000,
  // Interval at which Node.js checks for slow clients. With its default of 30 s, a timeout of 5 s could take
  // 35 s.
  connectionsCheckingInterval: 1000,
  maxHeaderSize: 8192,
} as const;

export const MAX_REQUESTS_PER_SOCKET = 1000;
export const MAX_CONNECTIONS = 256;

/** Headers that let a browser only display a response. */
export const setSafeHeaders: RequestHandler = (_request, response, next) => {
  response.set(SAFE_HEADERS);
  next();
};

/**
 * Rejects requests that no page accepts: 405 for methods other than GET and HEAD, 413 for a body, 414 for a long URL.
 */
export const refuseOddRequests: RequestHandler = (request, response, next) => {
  const hasBody =
    request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.set({ Allow: 'GET, HEAD', Connection: 'close' });
    response.status(405).json({ error: 'method not allowed: the API is read-only (GET and HEAD)' });
  } else if (hasBody) {
    response
      .set('Connection', 'close')
      .status(413)
      .json({ error: 'the request has a body: send it without one' });
  } else if (request.url.length > MAX_URL_LENGTH) {
    response.status(414).json({ error: `the URL is longer than ${MAX_URL_LENGTH} characters` });
  } else {
    next();
  }
};
