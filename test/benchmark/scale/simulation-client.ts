import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { SimulationReply, SimulationRequest } from './simulation-process.js';
import type { ClockRate } from './simulation-clock.js';
import type { SimulationSize } from './workloads.js';

type Started = Extract<SimulationReply, { readonly type: 'started' }>;
export type SimulationTraffic = Extract<SimulationReply, { readonly type: 'traffic' }>;

/** API server and metrics server in their process. */
export interface RunningSimulation extends Started {
  /** Aborts when the process exits. */
  readonly exited: AbortSignal;
  readonly setRate: (rate: ClockRate) => void;
  readonly traffic: () => Promise<SimulationTraffic>;
  readonly stop: () => Promise<void>;
}

export async function startSimulation(size: SimulationSize): Promise<RunningSimulation> {
  const child = fork(fileURLToPath(new URL('simulation-process.js', import.meta.url)));
  const ended = once(child, 'exit').then(() => {
    throw new Error('the fake cluster exited unexpectedly');
  });
  const exiting = new AbortController();
  ended.catch((error: unknown) => exiting.abort(error));
  const send = (request: SimulationRequest): void => void child.send(request);
  const replyOf = async <T extends SimulationReply['type']>(
    type: T,
  ): Promise<Extract<SimulationReply, { readonly type: T }>> => {
    for (;;) {
      const [reply] = (await Promise.race([once(child, 'message'), ended])) as [SimulationReply];
      if (reply.type === type) return reply as Extract<SimulationReply, { readonly type: T }>;
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
