import { createPrometheusClient, type PrometheusClient } from '../../../src/prometheus/client/client.js';
import type { SignInConfig } from '../../../src/prometheus/data-source/source-config.js';
import type { Environment } from '../../../src/prometheus/sign-in/sign-in.js';
import type { Answer } from '../../../src/prometheus/answers/answer.js';
import type { Clock } from '../../../src/units/clock.js';
import { addSeconds } from '../../../src/units/time.js';
import { aSource } from '../../support/builders.js';
import { type FakeServer, realClock, startServer, vectorBody } from '../fakes.js';

/** Real timers for real sockets, and a current time that a test advances. */
export function movableClock(): Clock & { readonly move: (seconds: number) => void } {
  let seconds = 0;
  return {
    ...realClock,
    now: () => addSeconds(realClock.now(), seconds),
    monotonicMs: () => realClock.monotonicMs() + seconds * 1000,
    move: (more) => (seconds += more),
  };
}

/** A Prometheus that accepts the headers of `accepts`, and answers others with 401 and the headers. */
export async function guardedPrometheus(accepts: (authorization: string) => boolean): Promise<FakeServer> {
  return startServer((response, { headers }) => {
    const { authorization = '' } = headers;
    if (accepts(authorization)) return response.end(vectorBody([{ labels: {}, value: 1 }]));
    response.statusCode = 401;
    return response.end(
      JSON.stringify({ status: 'error', errorType: 'unauthorized', error: `not with ${authorization}` }),
    );
  });
}

export interface Asked {
  readonly url: string;
  readonly signIn: SignInConfig;
  readonly clock?: Clock;
  readonly env?: Environment;
}

export function clientFor({ url, signIn, clock = realClock, env = {} }: Asked): PrometheusClient {
  return createPrometheusClient(aSource({ urls: [url], signIn }), clock, env);
}

export const ask = (client: PrometheusClient, timeoutMs = 5000): Promise<Answer> =>
  client.query('up', { timeoutMs });
