import { readFile } from 'node:fs/promises';
import { type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';

/** In the checkout: a compiled benchmark passes its own. */
const DASHBOARD = join(import.meta.dirname, '../../../dist/dashboard');

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
};

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** An answer of the API: status 200 unless it says otherwise. */
export type FakeAnswer = (url: URL) => unknown;

export interface FakeAnswers {
  overview?: FakeAnswer;
  service?: FakeAnswer;
  /** By path below `api/v1/`, such as `scalers/shop/web`. */
  others?: Readonly<Record<string, FakeAnswer>>;
}

export interface FakeService {
  /** Address of the page, below a path prefix. */
  readonly url: string;
  /** Paths of the requests of the API, with their parameters, the oldest first. */
  readonly requests: readonly string[];
  readonly streams: readonly { readonly lastEventId: string | null }[];
  /** Replaces answers. */
  readonly answer: (answers: FakeAnswers) => void;
  /** Sends an event to all open streams. */
  readonly send: (type: string, data: object) => void;
  /** Ends all streams. `isBack: false`: and refuses new ones with 503. */
  readonly cut: (isBack?: boolean) => void;
  readonly close: () => Promise<void>;
}

/** A response with another status than 200. */
export class FakeFailure {
  readonly status: number;
  readonly error: string;

  constructor(status: number, error: string) {
    this.status = status;
    this.error = error;
  }
}

interface FakeServiceOptions {
  readonly answers: FakeAnswers;
  /** Directory of the built dashboard. */
  readonly dashboard?: string;
  /** Requests without this token are answered with 401. */
  readonly token?: string;
}

const PREFIX = '/some/prefix/';

/** Serves the built dashboard and canned answers, with the headers of the service. */
export async function startFakeService({
  answers,
  token,
  dashboard = DASHBOARD,
}: FakeServiceOptions): Promise<FakeService> {
  let current = answers;
  const requests: string[] = [];
  const streams: { lastEventId: string | null }[] = [];
  const open = new Set<ServerResponse>();
  let isRefusing = false;
  let eventNumber = 0;

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://fake');
    const path = url.pathname.startsWith(PREFIX) ? url.pathname.slice(PREFIX.length) : null;
    response.setHeader('Content-Security-Policy', POLICY);
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.setHeader('Cache-Control', 'no-store');
    if (path === null) return void response.writeHead(404).end();
    if (!path.startsWith('api/v1/')) {
      void sendFile(join(dashboard, path === '' ? 'index.html' : path), response);
      return;
    }
    if (token !== undefined && request.headers.authorization !== `Bearer ${token}`) {
      sendJson(response, 401, { error: 'the request needs a bearer token' });
      return;
    }
    if (path === 'api/v1/events') {
      if (isRefusing) {
        sendJson(response, 503, { error: 'the service is stopping' });
        return;
      }
      const lastEventId = request.headers['last-event-id'];
      streams.push({ lastEventId: typeof lastEventId === 'string' ? lastEventId : null });
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write(`retry: 100\nid: ${eventNumber}\nevent: connected\ndata: {}\n\n`);
      open.add(response);
      response.on('close', () => open.delete(response));
      return;
    }
    const name = path.slice('api/v1/'.length);
    requests.push(`${name}${url.search}`);
    const answer =
      name === 'overview' || name === 'service' ? current[name] : current.others?.[decodeURIComponent(name)];
    const value = answer === undefined ? new FakeFailure(404, `${name} does not exist`) : answer(url);
    if (value instanceof FakeFailure) sendJson(response, value.status, { error: value.error });
    else sendJson(response, 200, value);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${PREFIX}`,
    requests,
    streams,
    answer: (next) => (current = { ...current, ...next }),
    send: (type, data) => {
      eventNumber += 1;
      for (const stream of open)
        stream.write(`id: ${eventNumber}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
    },
    cut: (isBack = true) => {
      isRefusing = !isBack;
      for (const stream of open) stream.end();
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function sendFile(path: string, response: ServerResponse): Promise<void> {
  try {
    const text = await readFile(path);
    response.writeHead(200, { 'Content-Type': MEDIA_TYPES[extname(path)] ?? 'application/octet-stream' });
    response.end(text);
  } catch {
    response.writeHead(404).end();
  }
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
}
