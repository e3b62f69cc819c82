import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listen, shut } from '../../../src/simulator/sockets.js';
import { remoteWrite, type WrittenSeries } from '../../support/remote-write.js';

/** Writes samples to an engine late. With a shorter delay, writes that wait are sent at once, in order. */
export interface DelayedWrites {
  readonly setDelay: (seconds: number) => void;
  readonly close: () => Promise<void>;
}

const POLL_MS = 50;
const RULE_INTERVAL_MS = 1000;

/** Starts a proxy for remote write that accepts each request at once and sends it on later. */
export async function startWriteProxy(engineUrl: string): Promise<DelayedWrites & { readonly url: string }> {
  const queue = startQueue();
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      const headers: Record<string, string> = {};
      for (const [name, value] of Object.entries(request.headers))
        if (typeof value === 'string' && /^(?:content-(?:type|encoding)|x-prometheus-.*)$/.test(name))
          headers[name] = value;
      queue.add(async () => {
        const url = `${engineUrl}/api/v1/write`;
        const answer = await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) });
        await answer.arrayBuffer();
      });
      response.writeHead(204).end();
    });
  });
  return {
    url: await listen(server, 0),
    setDelay: queue.setDelay,
    close: async () => {
      queue.stop();
      await shut(server);
    },
  };
}

/** Writes the results of a recording rule each second, with the time of their evaluation. */
export function startRule(
  engineUrl: string,
  evaluate: (seconds: number) => readonly WrittenSeries[],
): DelayedWrites {
  const queue = startQueue();
  const timer = setInterval(() => {
    const results = evaluate(Date.now() / 1000);
    queue.add(() => remoteWrite(engineUrl, results));
  }, RULE_INTERVAL_MS);
  return {
    setDelay: queue.setDelay,
    close: () => {
      clearInterval(timer);
      queue.stop();
      return Promise.resolve();
    },
  };
}

interface Queue {
  readonly add: (send: () => Promise<void>) => void;
  readonly setDelay: (seconds: number) => void;
  readonly stop: () => void;
}

function startQueue(): Queue {
  const waiting: { readonly atMs: number; readonly send: () => Promise<void> }[] = [];
  let delayMs = 0;
  let isSending = false;
  const sendDue = async (): Promise<void> => {
    if (isSending) return;
    isSending = true;
    for (
      let [next] = waiting;
      next !== undefined && performance.now() - next.atMs >= delayMs;
      [next] = waiting
    ) {
      waiting.shift();
      // What the engine does not accept is lost, as without a retry.
      await next.send().catch(() => undefined);
    }
    isSending = false;
  };
  const timer = setInterval(() => void sendDue(), POLL_MS);
  return {
    add: (send) => waiting.push({ atMs: performance.now(), send }),
    setDelay: (seconds) => (delayMs = seconds * 1000),
    stop: () => clearInterval(timer),
  };
}
