import { execFile } from 'node:child_process';
import { platform } from 'node:os';
import { untilAborted } from '../../units/abort.js';
import { errorCode } from '../../units/failure.js';
import { type CommandIo, type ExitCode, CommandError, usageError } from '../output/io.js';
import { type ReachOptions, reachService, type ReachedService } from '../reach/find-service.js';
import {
  Agent as HttpAgent,
  createServer,
  request as httpRequest,
  type ClientRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { agentOptions } from '../../http/tls.js';
import { TOKEN_HEADER } from '../../server/access/access-control.js';

export interface DashboardOptions extends ReachOptions {
  /** Local port; default: any free port. */
  readonly port?: string;
  /** Whether the browser is opened; default: true. */
  readonly open?: boolean;
}

/**
 * Runs `dashboard`: prints the address of the page and opens the page. Without `--url`, forwards the page through the
 * API server until the command is interrupted.
 */
export async function runDashboard(options: DashboardOptions, io: CommandIo): Promise<ExitCode> {
  const port = readPort(options.port);
  const service = await reachService(options, io);
  try {
    if (options.url !== undefined) {
      await show(`${service.connection.url}/`, options, io);
      return 0;
    }
    const forwarder = await listen(() => startForwarder(service, port), port);
    try {
      await show(forwarder.url, options, io);
      io.stderr.write(`promscaler: forwarding from ${service.where}; press Ctrl-C to stop\n`);
      await untilAborted(io.signal);
    } finally {
      await forwarder.close();
    }
    return 0;
  } finally {
    service.transport.close();
  }
}

function readPort(text: string | undefined): number {
  const port = /^\d{1,5}$/.test(text ?? '0') ? Number(text ?? '0') : Number.NaN;
  if (port <= 65_535) return port;
  throw usageError(`--port ${text ?? ''} is not a port number: use a number from 0 to 65535`);
}

async function listen<T>(start: () => Promise<T>, port: number): Promise<T> {
  try {
    return await start();
  } catch (error) {
    const why = errorCode(error) ?? String(error);
    throw new CommandError(`listening on 127.0.0.1, port ${port}: ${why}. Choose another port with --port`);
  }
}

async function show(url: string, { open = true }: DashboardOptions, io: CommandIo): Promise<void> {
  io.stdout.write(`${url}\n`);
  if (open && !(await openBrowser(url, io)))
    io.stderr.write('promscaler: no browser could be opened; open the address above\n');
}

/** Opens the page in the default browser. Returns whether the program that opens it could be started and succeeded. */
function openBrowser(url: string, { env }: Pick<CommandIo, 'env'>): Promise<boolean> {
  const [command, args] = opener(url);
  return new Promise((resolve) => {
    const child = execFile(command, [...args], { env: { ...env }, timeout: 10_000 }, (error) =>
      resolve(error === null),
    );
    child.stdin?.on('error', () => undefined).end();
  });
}

function opener(url: string): readonly [string, readonly string[]] {
  switch (platform()) {
    case 'darwin':
      return ['open', [url]];
    case 'win32':
      return ['cmd', ['/c', 'start', '', url]];
    default:
      return ['xdg-open', [url]];
  }
}

interface Forwarder {
  /** The URL with a trailing slash: `http://127.0.0.1:41234/`. */
  readonly url: string;
  readonly close: () => Promise<void>;
}

/**
 * Matches the paths of promscaler's pages. Other paths are rejected: with dots or escapes, a path could leave the
 * service proxy and read the cluster with the permissions of the user.
 */
const PAGES = /^\/(?:assets\/[\w-]+(?:\.[\w-]+)*|api\/v1(?:\/[\w-]+(?:\.[\w-]+)*)+)?$/;
const FORWARDED = ['accept', 'accept-encoding', 'last-event-id'] as const;
const RETURNED = [
  ...['content-type', 'content-encoding', 'content-length', 'cache-control', 'vary', 'retry-after'],
  ...['content-security-policy', 'x-content-type-options', 'referrer-policy', 'cross-origin-resource-policy'],
  ...['www-authenticate', 'x-accel-buffering'],
] as const;

/**
 * Listens on 127.0.0.1 and forwards requests for the pages through the service proxy of the API server, with the
 * credentials of the user. Requests with another host name are rejected, so that other web pages cannot use the
 * credentials.
 */
async function startForwarder(service: ReachedService, port: number): Promise<Forwarder> {
  let hosts: ReadonlySet<string | undefined> = new Set();
  const agents = { http: new HttpAgent({ keepAlive: true }), https: null as HttpsAgent | null };
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    if (!hosts.has(request.headers.host)) refuse(response, 421, 'unknown host name in the Host header');
    else if (request.method !== 'GET' && request.method !== 'HEAD')
      refuse(response, 405, 'method not allowed');
    else if (!PAGES.test(path)) refuse(response, 404, 'there is no such page');
    else
      forward(service, agents, { request, response }).catch((error: unknown) =>
        refuse(response, 500, `internal error: ${String(error)}`),
      );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  const actual = typeof address === 'object' && address !== null ? address.port : port;
  hosts = new Set([`127.0.0.1:${actual}`, `localhost:${actual}`]);
  return {
    url: `http://127.0.0.1:${actual}/`,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      agents.http.destroy();
      agents.https?.destroy();
      await closed;
    },
  };
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

async function forward(
  { connection, prefix, headers }: ReachedService,
  agents: { readonly http: HttpAgent; https: HttpsAgent | null },
  { request, response }: Exchange,
): Promise<void> {
  let credentials;
  try {
    credentials = await Promise.all([connection.authorization(), connection.tls()]);
  } catch {
    refuse(response, 502, 'the credentials of the kubeconfig cannot be read');
    return;
  }
  const [authorization, tls] = credentials;
  const sent: OutgoingHttpHeaders = { ...headers };
  for (const name of FORWARDED) if (request.headers[name] !== undefined) sent[name] = request.headers[name];
  // The token that the page sends is for promscaler. The API server gets the credentials of the user.
  const given = request.headers.authorization;
  if (given !== undefined) sent[TOKEN_HEADER] = given;
  if (authorization !== null) sent['authorization'] = authorization;
  const url = new URL(`${connection.url}${prefix}${request.url ?? '/'}`);
  const isSecure = url.protocol === 'https:';
  agents.https ??= isSecure ? new HttpsAgent(agentOptions(tls)) : null;
  const options = { method: request.method ?? 'GET', headers: sent };
  const upstream = isSecure
    ? httpsRequest(url, { ...options, agent: agents.https ?? false })
    : httpRequest(url, { ...options, agent: agents.http });
  relay(upstream, response);
}

function relay(upstream: ClientRequest, response: ServerResponse): void {
  upstream.on('response', (answer) => {
    const returned: OutgoingHttpHeaders = {};
    for (const name of RETURNED) {
      const value: string | readonly string[] | undefined = answer.headers[name];
      if (value !== undefined) returned[name] = String(value);
    }
    response.writeHead(answer.statusCode ?? 502, returned);
    answer.pipe(response);
    answer.on('error', () => response.destroy());
  });
  upstream.on('error', () => refuse(response, 502, 'the API server does not answer'));
  response.on('close', () => upstream.destroy());
  upstream.end();
}

function refuse(response: ServerResponse, status: number, error: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify({ error }));
}
