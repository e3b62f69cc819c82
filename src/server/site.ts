import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { errorCode } from '../units/failure.js';
import type { RequestHandler } from 'express';
import { acceptsGzip, compress } from './pages/compression.js';

/** A file of the dashboard and its compressed form. */
interface SiteFile {
  readonly type: string;
  readonly body: Buffer;
  /** The compressed file; null: it would not be smaller. */
  readonly gzipped: Buffer | null;
  /** Whether the name contains a hash of the content, so that the file never changes. */
  readonly isImmutable: boolean;
}

/** Maps the path in a URL to a file: `/` and `/assets/NAME`. */
export type Site = ReadonlyMap<string, SiteFile>;

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

/**
 * Reads the built dashboard into memory; null: there is none. Other types of files, and directories in `assets`, are
 * skipped.
 */
export async function readSite(directory: string): Promise<Site | null> {
  const assets = join(directory, 'assets');
  try {
    const index = await readSiteFile(join(directory, 'index.html'), false);
    const names = (await readdir(assets)).filter((name) => extname(name) in TYPES).sort();
    const files = await Promise.all(
      names.map(async (name) => [`/assets/${name}`, await readSiteFile(join(assets, name), true)] as const),
    );
    return new Map([['/', index], ...files]);
  } catch (error) {
    if (isMissingFile(error)) return null;
    throw error;
  }
}

async function readSiteFile(path: string, isImmutable: boolean): Promise<SiteFile> {
  const body = await readFile(path);
  const gzipped = await compress(body, { level: 9 });
  const type = TYPES[extname(path)] ?? 'application/octet-stream';
  return { type, body, gzipped: gzipped.length < body.length ? gzipped : null, isImmutable };
}

function isMissingFile(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** Allows only content of this server, and no inline scripts, frames or forms. */
const SITE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/** One year, which is the longest time that caches accept. */
const FOREVER = 'public, max-age=31536000, immutable';

/**
 * Serves the files of the dashboard. Paths are looked up in `site` and never in the file system. Requests for other
 * paths are passed to `next`.
 */
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
