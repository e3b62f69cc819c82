import { execFile } from 'node:child_process';
import { platform } from 'node:os';
import { untilAborted } from '../../units/abort.js';
import { errorCode } from '../../units/failure.js';
import { type CommandIo, type ExitCode, CommandError, usageError } from '../output/io.js';
import { type ReachOptions, reachService } from '../reach/find-service.js';
import { startForwarder } from './forwarder.js';

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

/** Opens the page in the default browser. Returns whether the program that does so could be started and succeeded. */
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
