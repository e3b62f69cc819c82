import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

export type Answer = (response: ServerResponse, request: SeenRequest) => void;

/** A scripted API server: each request gets the next answer of its route, and the last one repeatedly. */
export class FakeApiServer {
  readonly requests: SeenRequest[] = [];
  readonly #routes = new Map<string, Answer[]>();
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => void this.#serve(request, response));
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  static async start(): Promise<FakeApiServer> {
    const fake = new FakeApiServer();
    await new Promise<void>((resolve) => fake.#server.listen(0, '127.0.0.1', resolve));
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Number of open connections. */
  get connections(): number {
    return this.#sockets.size;
  }

  /** `verb` is LIST, WATCH (both GETs of a collection) or a method. */
  on(verb: string, path: string, ...answers: readonly Answer[]): this {
    this.#routes.set(`${verb} ${path}`, [...answers]);
    return this;
  }

  seen(verb: string, path?: string): readonly SeenRequest[] {
    return this.requests.filter(
      (request) => verbOf(request) === verb && (path === undefined || request.path === path),
    );
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(message.url ?? '/', this.url);
    const pieces: Buffer[] = [];
    for await (const piece of message as AsyncIterable<Buffer>) pieces.push(piece);
    const text = Buffer.concat(pieces).toString('utf8');
    const request: SeenRequest = {
      method: message.method ?? '',
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: message.headers,
      body: text === '' ? null : JSON.parse(text),
    };
    this.requests.push(request);
    const answers = this.#routes.get(`${verbOf(request)} ${request.path}`) ?? [];
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    (answer ?? status(404, 'nothing is scripted'))(response, request);
  }
}

function verbOf({ method, path, query }: SeenRequest): string {
  if (method !== 'GET') return method;
  if ('watch' in query) return 'WATCH';
  return /\/(pods|deployments|statefulsets|replicasets|horizontalpodautoscalers)$/.test(path)
    ? 'LIST'
    : 'GET';
}

/** 200 with a JSON body. */
export function json(body: unknown): Answer {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
}

/** Returns a Status object with that code. */
export function status(
  code: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return (response) => {
    response.writeHead(code, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, message }));
  };
}

/** A list of one page. */
export function list(resourceVersion: string, items: readonly unknown[], token?: string): Answer {
  return json({ kind: 'PodList', apiVersion: 'v1', metadata: { resourceVersion, continue: token }, items });
}

/** A watch that sends these events and stays open. */
export function openWatch(...events: readonly unknown[]): Answer {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    for (const event of events) response.write(`${JSON.stringify(event)}\n`);
  };
}

/** A watch that sends these events and ends without an error. */
export function closedWatch(...events: readonly unknown[]): Answer {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(events.map((event) => `${JSON.stringify(event)}\n`).join(''));
  };
}

/** Cuts the connection without an answer. */
export const cut: Answer = (response) => void response.socket?.destroy();

export function event(type: string, object: unknown): unknown {
  return { type, object };
}

export function bookmark(resourceVersion: string): unknown {
  return event('BOOKMARK', { kind: 'Pod', metadata: { resourceVersion, creationTimestamp: null } });
}

export function errorEvent(code: number, reason: string): unknown {
  return event('ERROR', { kind: 'Status', code, reason, message: `scripted ${reason}` });
}

interface PodShape {
  readonly name: string;
  readonly resourceVersion?: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** A running pod with 100m of cpu requested. */
export function apiPod({
  name,
  resourceVersion = '1',
  namespace = 'shop',
  labels = { app: 'web' },
}: PodShape) {
  return {
    metadata: { name, namespace, uid: `uid-${name}`, resourceVersion, labels },
    spec: { containers: [{ name: 'app', resources: { requests: { cpu: '100m' } } }] },
    status: {
      phase: 'Running',
      startTime: '2026-01-01T00:00:00Z',
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:10Z' }],
    },
  };
}

/** Deployment shop/web with 3 replicas. */
export function apiDeployment(
  over: { readonly resourceVersion?: string; readonly replicas?: number; readonly name?: string } = {},
) {
  const { resourceVersion = '10', replicas = 3, name = 'web' } = over;
  return {
    metadata: { name, namespace: 'shop', uid: `uid-${name}`, resourceVersion },
    spec: { replicas, selector: { matchLabels: { app: name } } },
    status: { replicas },
  };
}

/** The `/scale` of deployment shop/web. */
export function apiScale(over: {
  readonly resourceVersion?: string;
  readonly replicas?: number;
  readonly selector?: string;
}) {
  const { resourceVersion = '10', replicas, selector = 'app=web' } = over;
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name: 'web', namespace: 'shop', uid: 'uid-web', resourceVersion },
    spec: replicas === undefined ? {} : { replicas },
    status: { replicas: 3, selector },
  };
}
