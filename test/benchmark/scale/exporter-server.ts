import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { ExporterPages } from './exporter-pages.js';

/** Serves page N at `/pages/N`. */
export function createExporterServer(pages: ExporterPages): Server {
  return createServer(({ url = '' }, response) => {
    const number = /^\/pages\/(\d+)$/.exec(url)?.[1];
    const page = number === undefined ? null : pages.page(Number(number));
    response.writeHead(page === null ? 404 : 200, { 'content-type': 'text/plain; version=0.0.4' });
    response.end(page ?? '');
  });
}
