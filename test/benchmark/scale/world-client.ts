import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { WorldReply, WorldRequest } from './world-process.js';
import type { ClockRate } from './world-clock.js';
import type { WorldSize } from './workloads.js';

type Started = Extract<WorldReply, { readonly type: 'started' }>;
export type WorldTraffic = Extract<WorldReply, { readonly type: 'traffic' }>;

/** API server and metrics server in their process. */
export interface RunningWorld extends Started {
  /** Aborts when the process exits. */
  readonly exited: AbortSignal;
  readonly setRate: (rate: ClockRate) => void;
  readonly traffic: () => Promise<WorldTraffic>;
  readonly stop: () => Promise<void>;
}

export async function startWorld(size: WorldSize): Promise<RunningWorld> {
  const child = fork(fileURLToPath(new URL('world-process.js', import.meta.url)));
  const ended = once(child, 'exit').then(() => {
    throw new Error('the fake cluster exited unexpectedly');
  });
  const exiting = new AbortController();
  ended.catch((error: unknown) => exiting.abort(error));
  const send = (request: WorldRequest): void => void child.send(request);
  const replyOf = async <T extends WorldReply['type']>(
    type: T,
  ): Promise<Extract<WorldReply, { readonly type: T }>> => {
    for (;;) {
      const [reply] = (await Promise.race([once(child, 'message'), ended])) as [WorldReply];
      if (reply.type === type) return reply as Extract<WorldReply, { readonly type: T }>;
    }
  };
  send({ type: 'start', size });
  return {
    ...(await replyOf('started')),
    exited: exiting.signal,
    setRate: (rate) => send({ type: 'set-rate', rate }),
    traffic: async () => {
      send({ type: 'traffic' });
      return replyOf('traffic');
    },
    stop: async () => {
      child.disconnect();
      await ended.catch(() => undefined);
    },
  };
}
