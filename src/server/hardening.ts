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

/** Limits of the HTTP server itself (reliability.md S17); Node's own are a minute and more, and no end of sockets. */
export const SERVER_LIMITS = {
  headersTimeout: 5000,
  requestTimeout: 10_000,
  keepAliveTimeout: 5000,
  // Node looks for late clients at this interval; its default of 30 s would make 5 s mean up to 35.
  connectionsCheckingInterval: 1000,
  maxHeaderSize: 8192,
} as const;

export const MAX_REQUESTS_PER_SOCKET = 1000;
export const MAX_CONNECTIONS = 256;

/** Puts the headers on each answer that keep a browser from doing more with it than to show it. */
export const setSafeHeaders: RequestHandler = (_request, response, next) => {
  response.set(SAFE_HEADERS);
  next();
};

/** Answers what no page of ours asks for: 405 for a method that could change something, 413 for a body, 414 for a long URL. */
export const refuseOddRequests: RequestHandler = (request, response, next) => {
  const hasBody =
    request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.set({ Allow: 'GET, HEAD', Connection: 'close' });
    response.status(405).json({ error: 'only GET and HEAD: nothing can be changed here' });
  } else if (hasBody) {
    response.set('Connection', 'close').status(413).json({ error: 'a request here has no body' });
  } else if (request.url.length > MAX_URL_LENGTH) {
    response.status(414).json({ error: `the URL is longer than ${MAX_URL_LENGTH} characters` });
  } else {
    next();
  }
};
