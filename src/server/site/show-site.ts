import type { RequestHandler } from 'express';
import { acceptsGzip } from '../pages/compression.js';
import type { Site } from './read-site.js';

/** Everything comes from this server: no inline script, no other address, no frame, no form. */
const SITE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/** A year, the longest that caches honor. */
const FOREVER = 'public, max-age=31536000, immutable';

/** Serves the files of the dashboard by their names, so no path can leave it. Other paths are left to `next`. */
export function showSite(site: Site | null): RequestHandler {
  return (request, response, next) => {
    const file = site?.get(request.path);
    if (file === undefined) {
      next();
      return;
    }
    const isGzipped = file.gzipped !== null && acceptsGzip(request);
    response.set({
      'Content-Type': file.type,
      'Content-Security-Policy': SITE_POLICY,
      'Cache-Control': file.isImmutable ? FOREVER : 'no-cache',
      Vary: 'Accept-Encoding',
      ...(isGzipped ? { 'Content-Encoding': 'gzip' } : {}),
    });
    response.send(isGzipped ? file.gzipped : file.body);
  };
}
