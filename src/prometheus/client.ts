import { type Clock, sleep } from '../units/clock.js';
import type { Instant } from '../units/time.js';
import type { Answer, FailureReason } from './answer.js';
import { createConnection } from './connection.js';
import { isServerFailure } from './breaker.js';
import { createServer, type QueryOptions, type Server } from './server.js';
import type { Environment } from './sign-in/sign-in.js';
import type { SourceConfig } from './source-config.js';

/** Asks one data source. Nothing here throws. */
export interface PrometheusClient {
  /** One instant query, evaluated at the server's own present. */
  readonly query: (query: string, options: QueryOptions) => Promise<Answer>;
  /** When the server that answers began to run; null where it does not say (Thanos, Mimir) or does not answer. */
  readonly startTime: (options: QueryOptions) => Promise<Instant | null>;
}

/** Failures that often are over at once: a closed keep-alive connection, a proxy without a backend. */
const RETRY_REASONS: ReadonlySet<FailureReason> = new Set(['connection', 'server_error']);
const RETRY_AFTER_MS = 100;

type Failure = Extract<Answer, { readonly class: 'failed' }>;

/**
 * A client for the urls of a data source. They are tried in their order, one that failed a short while ago last, all
 * within one deadline, of which each gets an equal part of what is left. `env` is for what signs in.
 */
export function createPrometheusClient(
  config: SourceConfig,
  clock: Clock,
  env: Environment = {},
): PrometheusClient {
  const connect = createConnection(config, clock, env);
  const servers = config.urls.map((url) => createServer(url, { config, connect, clock }));

  const query: PrometheusClient['query'] = async (text, { timeoutMs, signal, mayRetry = true }) => {
    const deadlineMs = clock.monotonicMs() + timeoutMs;
    const failures: Failure[] = [];
    const order = inOrder(servers, (server) => server.goesLast());
    for (const [index, server] of order.entries()) {
      const leftMs = deadlineMs - clock.monotonicMs();
      if (leftMs <= 0) break;
      const answer = await server.query(text, { timeoutMs: leftMs / (order.length - index), signal });
      if (answer.class !== 'failed' || !isServerFailure(answer.reason)) return answer;
      failures.push(answer);
    }
    const [first] = order;
    const isWorthIt = mayRetry && failures.every(({ reason }) => RETRY_REASONS.has(reason));
    if (first === undefined || !isWorthIt) return summary(failures);
    await sleep(clock, RETRY_AFTER_MS, signal);
    const leftMs = deadlineMs - clock.monotonicMs();
    if (leftMs <= 0) return summary(failures);
    const again = await first.query(text, { timeoutMs: leftMs, signal });
    return again.class === 'failed' ? summary(failures) : again;
  };

  const startTime: PrometheusClient['startTime'] = async ({ timeoutMs, signal }) => {
    const deadlineMs = clock.monotonicMs() + timeoutMs;
    const order = inOrder(servers, (server) => server.isDoubtful());
    for (const [index, server] of order.entries()) {
      const leftMs = deadlineMs - clock.monotonicMs();
      if (leftMs <= 0) return null;
      const instant = await server.startTime({ timeoutMs: leftMs / (order.length - index), signal });
      // A server that answers without saying when it began is one that does not say: no other one speaks for it.
      if (instant !== 'unavailable') return instant;
    }
    return null;
  };

  return { query, startTime };
}

function inOrder(servers: readonly Server[], goesLast: (server: Server) => boolean): readonly Server[] {
  const last = new Set(servers.filter(goesLast));
  return [...servers.filter((server) => !last.has(server)), ...last];
}

function summary(failures: readonly Failure[]): Answer {
  const message = failures.map((failure) => failure.message).join('; ');
  const reason = failures.at(-1)?.reason ?? 'timeout';
  return { class: 'failed', reason, message: message === '' ? 'no time was left to ask' : message };
}
