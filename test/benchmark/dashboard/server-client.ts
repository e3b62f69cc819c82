import { fork } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { fileURLToPath } from 'node:url';
import type { Order, ProcessFigures, Reply } from './orders.js';

/** The process of `service-process.ts`. */
export interface BenchServer {
  readonly url: string;
  readonly order: (order: Order) => Promise<void>;
  readonly figures: () => Promise<ProcessFigures>;
  readonly stop: () => Promise<void>;
}

const PROCESS = fileURLToPath(new URL('service-process.js', import.meta.url));
/** As in a pod with the memory limit of the chart. */
const HEAP_MB = 768;

export async function startBenchServer(scalers: number, prometheusUrl: string): Promise<BenchServer> {
  const child = fork(PROCESS, [String(scalers), prometheusUrl], {
    execArgv: ['--expose-gc', `--max-old-space-size=${HEAP_MB}`],
  });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the process of the server has ended with ${String(code)}`);
  });
  ended.catch(() => undefined);
  const next = async (): Promise<Reply> => {
    const [reply] = (await Promise.race([once(child, 'message'), ended])) as [Reply];
    return reply;
  };
  const ready = await next();
  const ask = (order: Order): Promise<Reply> => {
    const reply = next();
    child.send(order);
    return reply;
  };
  return {
    url: ready.type === 'ready' ? ready.url : '',
    order: async (order) => {
      await ask(order);
    },
    figures: async () => {
      const reply = await ask({ type: 'figures' });
      if (reply.type !== 'figures') throw new Error('the process of the server has sent no figures');
      return reply.figures;
    },
    stop: async () => {
      child.kill('SIGKILL');
      await ended.catch(() => undefined);
    },
  };
}

export interface Got {
  readonly ms: number;
  readonly bytes: number;
  readonly body: Buffer;
}

/** Reads a page as a browser does, compressed where the server compresses, over its own connection. */
export async function get(url: string): Promise<Got> {
  const startMs = performance.now();
  const response = await open(url, { 'accept-encoding': 'gzip' });
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece as Buffer);
  const ms = performance.now() - startMs;
  const body = Buffer.concat(pieces);
  if (response.statusCode !== 200)
    throw new Error(`${url} answered with ${String(response.statusCode)}: ${body.toString().slice(0, 200)}`);
  return { ms, bytes: body.length, body };
}

export async function open(url: string, headers: Readonly<Record<string, string>>): Promise<IncomingMessage> {
  const sent = request(url, { headers, agent: false });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return response;
}
