import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import type { Answer } from '../../src/prometheus/answers/answer.js';
import type { Series } from '../../src/prometheus/answers/columns.js';
import type { MetricSource } from '../../src/prometheus/metric-source.js';

import type { FollowUps } from '../../src/prometheus/queries/follow-ups.js';
import type { Readings } from '../../src/prometheus/queries/round.js';
import { ageKey, type SourceAge, UNKNOWN_AGE } from '../../src/prometheus/source/age.js';
import { type Scaler, scalerKey } from '../../src/scaler/spec.js';
import type { Clock } from '../../src/units/clock.js';
import type { Instant } from '../../src/units/time.js';
import { aScaler, T0 } from '../support/builders.js';

/** Real timers, for real sockets. */
export const realClock: Clock = { ...SYSTEM_CLOCK, random: () => 0.5 };

export function values(series: readonly Series[], evaluatedAt: Instant = T0): Answer {
  return { class: 'value', series, evaluatedAt };
}

/** A round whose answers a test waits for. */
export interface AwaitedRound extends FollowUps {
  readonly of: (scaler: Scaler) => Promise<readonly Answer[]>;
  /** The age that was read with the answers of all scalers; unknown: it was not read. */
  readonly ageOf: (source: string, urlIndex?: number) => Promise<SourceAge>;
}

/** Starts a round and waits for its answers, as the controller does. */
export function startRound(
  metrics: Pick<MetricSource, 'startRound'>,
  due: readonly Scaler[],
  signal = new AbortController().signal,
): AwaitedRound {
  const ready = new Map<Scaler, readonly [Readings, FollowUps]>();
  const waiting = new Map<Scaler, () => void>();
  const promises = new Map(
    due.map((scaler) => [scaler, new Promise<void>((resolve) => waiting.set(scaler, resolve))]),
  );
  metrics.startRound(due, signal, (scaler, readings, followUps) => {
    if (ready.has(scaler)) throw new Error(`${scaler.key} is ready twice`);
    ready.set(scaler, [readings, followUps]);
    waiting.get(scaler)?.();
  });
  const untilReady = async (scaler: Scaler): Promise<readonly [Readings, FollowUps]> => {
    await promises.get(scaler);
    const known = ready.get(scaler);
    if (known === undefined) throw new Error(`${scaler.key} is not part of this round`);
    return known;
  };
  return {
    of: async (scaler) => (await untilReady(scaler))[0].answers,
    ageOf: async (source, urlIndex) => {
      const all = await Promise.all(due.map(untilReady));
      const key = ageKey(source, urlIndex === undefined ? undefined : { ...MISSING, urlIndex });
      return all.flatMap(([{ ages }]) => ages.get(key) ?? [])[0] ?? UNKNOWN_AGE;
    },
    ranking: async (scaler) => (await untilReady(scaler))[1].ranking(scaler),
    duplicates: (scaler) => ready.get(scaler)?.[1].duplicates(scaler) ?? null,
    capacityOf: (scaler, metric) => ready.get(scaler)?.[1].capacityOf(scaler, metric) ?? null,
    get sources() {
      return [...ready.values()][0]?.[1].sources ?? new Map();
    },
    loadHistory: (scaler, asked) => ready.get(scaler)?.[1].loadHistory(scaler, asked),
    whyOld: async (scaler, checked) => (await untilReady(scaler))[1].whyOld(scaler, checked),
  };
}

const MISSING = { class: 'missing', message: 'no series' } as const;

/** The answers of a round, by `NAMESPACE/NAME`. */
export function answersByKey(due: readonly Scaler[], { of, ageOf, ranking }: AwaitedRound) {
  const scalers = new Map(due.map((scaler) => [scalerKey(scaler), scaler]));
  const scalerOf = (key: string): Scaler => scalers.get(key) ?? aScaler([], '', key);
  return {
    ageOf,
    of: (key: string) => of(scalerOf(key)),
    ranking: (key: string) => ranking(scalerOf(key)),
  };
}

/** A Prometheus API body with a vector. */
export function vectorBody(series: readonly Series[], seconds = T0 / 1000): string {
  const result = series.map(({ labels, value }) => ({ metric: labels, value: [seconds, String(value)] }));
  return JSON.stringify({ status: 'success', data: { resultType: 'vector', result } });
}

export interface FakeServer {
  readonly url: string;
  readonly requests: readonly RecordedRequest[];
  readonly close: () => Promise<void>;
}

export interface RecordedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly form: URLSearchParams;
}

/** A server on an ephemeral loopback port that records its requests. */
export async function startServer(
  respond: (response: Parameters<RequestListener>[1], request: RecordedRequest) => void,
): Promise<FakeServer> {
  const requests: RecordedRequest[] = [];
  const server: Server = createServer((message, response) => {
    let body = '';
    message.setEncoding('utf8');
    message.on('data', (chunk: string) => (body += chunk));
    message.on('end', () => {
      const { method = '', url = '', headers } = message;
      const request = { method, url, headers, form: new URLSearchParams(body) };
      requests.push(request);
      respond(response, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
