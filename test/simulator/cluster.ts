import { afterEach } from '@jest/globals';
import { type JsonObject, listAt, numberAt, stringAt } from '../../src/simulator/kinds/json.js';
import { type Simulator, type SimulatorOptions, startSimulator } from '../../src/simulator/simulator.js';
import { ManualClock, settle } from '../support/manual-clock.js';

const running: Simulator[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((simulator) => simulator.close()));
});

/** Starts a simulator on a manual clock, closed after the test. */
export async function startCluster(
  options: Omit<SimulatorOptions, 'clock'> = {},
): Promise<{ readonly simulator: Simulator; readonly clock: ManualClock }> {
  const clock = new ManualClock();
  const simulator = await startSimulator({ clock, ...options });
  running.push(simulator);
  return { simulator, clock };
}

/** `shop/web`, a Deployment of 3 ready pods. */
export const WEB = { namespace: 'shop', name: 'web', replicas: 3 } as const;

/** Path of the Deployments in the namespace `shop`. */
export const DEPLOYMENTS = '/apis/apps/v1/namespaces/shop/deployments';
export const PODS = '/api/v1/namespaces/shop/pods';

/** An answer, its body as JSON. */
export interface Answer {
  readonly code: number;
  readonly body: JsonObject;
  readonly headers: Headers;
}

/** Sends one request; `body` as JSON, a patch by default as merge patch. */
export async function send(
  simulator: Pick<Simulator, 'url'>,
  method: string,
  path: string,
  options: {
    readonly body?: unknown;
    readonly type?: string;
    readonly token?: string;
    readonly agent?: string;
  } = {},
): Promise<Answer> {
  const type = options.type ?? (method === 'PATCH' ? 'application/merge-patch+json' : 'application/json');
  const response = await fetch(simulator.url + path, {
    method,
    headers: {
      'content-type': type,
      'user-agent': options.agent ?? 'tests/1.0',
      ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
    },
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
  });
  return { code: response.status, body: parse(await response.text()), headers: response.headers };
}

function parse(text: string): JsonObject {
  const value: unknown = text.startsWith('{') ? JSON.parse(text) : { text };
  return value as JsonObject;
}

/** Returns the names of the items of a list, in its order. */
export function names(list: JsonObject): readonly string[] {
  return listAt(list, 'items').map((item) => stringAt(item, 'metadata', 'name') ?? '');
}

/** An open watch, with the events that were received so far. */
export interface OpenWatch {
  readonly code: number;
  readonly events: JsonObject[];
  /** Whether the server ended it. */
  readonly hasEnded: () => boolean;
  readonly close: () => void;
}

/** Opens a watch and reads it in the background. */
export async function watch(simulator: Pick<Simulator, 'url'>, path: string, query = ''): Promise<OpenWatch> {
  const controller = new AbortController();
  const response = await fetch(`${simulator.url}${path}?watch=1&${query}`, { signal: controller.signal });
  const events: JsonObject[] = [];
  let ended = false;
  const read = async (): Promise<void> => {
    let rest = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      rest += decoder.decode(chunk as Uint8Array, { stream: true });
      const lines = rest.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) events.push(parse(line));
    }
  };
  read()
    .catch(() => undefined)
    .finally(() => (ended = true))
    .catch(() => undefined);
  return { code: response.status, events, hasEnded: () => ended, close: () => controller.abort() };
}

/** Returns `TYPE NAME` of each event; of an ERROR its code. */
export function namesOfEvents(events: readonly JsonObject[]): readonly string[] {
  return events.map((event) => {
    const type = stringAt(event, 'type') ?? '';
    const what =
      type === 'ERROR' ? numberAt(event, 'object', 'code') : stringAt(event, 'object', 'metadata', 'name');
    return `${type} ${what ?? ''}`.trim();
  });
}

/** Advances the clock and lets due events reach their clients. */
export async function pass(clock: ManualClock, seconds: number): Promise<void> {
  clock.advance(seconds * 1000);
  await settle(20);
}
