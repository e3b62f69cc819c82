import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import type { Answer } from '../../src/prometheus/answers/answer.js';
import type { Series } from '../../src/prometheus/answers/columns.js';
import type { RoundAnswers } from '../../src/prometheus/metric-source.js';
import type { DueScaler } from '../../src/prometheus/queries/round-plan.js';
import { type Scaler, scalerKey } from '../../src/scaler/spec.js';
import type { Clock } from '../../src/units/clock.js';
import type { Instant } from '../../src/units/time.js';
import { aScaler, T0 } from '../support/builders.js';

/** Real timers, for real sockets. */
export const realClock: Clock = { ...SYSTEM_CLOCK, random: () => 0.5 };

export function values(series: readonly Series[], evaluatedAt: Instant = T0): Answer {
  return { class: 'value', series, evaluatedAt };
}

/** The answers of a round, by `NAMESPACE/NAME`. */
export function answersByKey(due: readonly DueScaler[], { of, ageOf, ranking }: RoundAnswers) {
  const scalers = new Map(due.map(({ scaler }) => [scalerKey(scaler), scaler]));
  const scalerOf = (key: string): Scaler => scalers.get(key) ?? aScaler([], '', key);
  return {
    ageOf,
    of: (key: string) => of(scalerOf(key)),
    ranking: (key: string) => ranking?.(scalerOf(key)) ?? Promise.resolve(null),
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
