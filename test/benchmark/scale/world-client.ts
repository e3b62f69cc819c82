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
  readonly setSkipped: (ms: number) => void;
  /** Whether every request has its answer. */
  readonly isIdle: () => Promise<boolean>;
  readonly traffic: () => Promise<WorldTraffic>;
  readonly stop: () => Promise<void>;
}

export async function startWorld(size: WorldSize, clock: ClockRate): Promise<RunningWorld> {
  const child = fork(fileURLToPath(new URL('world-process.js', import.meta.url)));
  const ended = once(child, 'exit').then(() => {
    throw new Error('the fake cluster exited unexpectedly');
  });
  ended.catch(() => undefined);
  const send = (request: WorldRequest): void => void child.send(request);
  const replyOf = async <T extends WorldReply['type']>(
    type: T,
  ): Promise<Extract<WorldReply, { readonly type: T }>> => {
    for (;;) {
      const [reply] = (await Promise.race([once(child, 'message'), ended])) as [WorldReply];
      if (reply.type === type) return reply as Extract<WorldReply, { readonly type: T }>;
    }
  };
  send({ type: 'start', size, clock });
  return {
    ...(await replyOf('started')),
    setSkipped: (ms) => send({ type: 'skipped', ms }),
    isIdle: async () => {
      send({ type: 'idle' });
      return (await replyOf('idle')).isIdle;
    },
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
