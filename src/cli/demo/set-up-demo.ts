import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { parse } from 'yaml';
import { reservePort } from './programs/prometheus-server.js';
import type { RevivedPrometheus } from './revived-prometheus.js';
import type { JsonObject } from '../../simulator/kinds/json.js';
import { kubeconfigText } from '../../simulator/api/requests/access.js';
import type { Simulator } from '../../simulator/simulator.js';
import { customResourceDefinition } from '../schema/definition.js';
import {
  SERVICE_TARGETS_FILE,
  demoDocuments,
  demoServiceConfig,
  demoServiceTargets,
  RATE_SECONDS,
  SCALED_OBJECTS,
  SCRAPE_SECONDS,
} from './documents.js';
import type { DemoSettings } from './options.js';
import {
  DEMO_NAMESPACE,
  demoNode,
  demoService,
  demoStateMaps,
  DEMO_SERVICE,
  DEMO_PODS,
} from './workloads.js';
import { listen, shut } from '../../simulator/sockets.js';
import { resolveServiceConfig } from '../../config/resolve-service-config.js';
import { createPrometheusClient } from '../../prometheus/client/client.js';
import { type Clock, sleep } from '../../units/clock.js';

export interface DemoSetup {
  readonly directory: string;
  /** Kubeconfig with which a client reaches the cluster and, through its service proxy, the service. */
  readonly kubeconfig: string;
  readonly configFile: string;
  /** The file for the log of the service. */
  readonly logFile: string;
  readonly serviceUrl: string;
  readonly prometheusUrl: string;
  readonly prometheus: RevivedPrometheus;
  /** Frees the port of the service, right before the service listens on it. */
  readonly releasePort: () => Promise<void>;
  readonly close: () => Promise<void>;
}

interface Parts {
  readonly directory: string;
  readonly simulator: Simulator;
  readonly prometheus: RevivedPrometheus;
}

const DEFAULT_PORT = 8080;
const KUBECONFIG = 'kubeconfig';

export async function setUpDemo(parts: Parts, settings: DemoSettings): Promise<DemoSetup> {
  const { directory, simulator, prometheus } = parts;
  const { port: wanted, speed } = settings;
  const { port, release } =
    wanted === null || wanted === 0
      ? await reservePort(wanted ?? DEFAULT_PORT)
      : { port: wanted, release: () => Promise.resolve() };
  const documents = demoDocuments(speed);
  for (const manifest of demoStateMaps(DEMO_NAMESPACE)) simulator.addObject(manifest);
  simulator.addObject(demoNode());
  simulator.addObject(demoService(port));
  // The conversion to JSON removes members that are undefined, which the simulator does not accept.
  simulator.addObject(JSON.parse(JSON.stringify(customResourceDefinition())) as JsonObject);
  simulator.addObject(SCALED_OBJECTS);
  for (const document of documents.objects) simulator.addObject(parse(document) as JsonObject);
  const serviceUrl = `http://127.0.0.1:${port}`;
  const proxy = await startApiProxy(simulator.url, serviceUrl);
  const configFile = join(directory, 'promscaler.yaml');
  const addresses = { prometheusUrl: prometheus.url, kubeconfig: KUBECONFIG, port };
  await mkdir(join(directory, 'scalers'));
  for (const [name, text] of documents.files) await writeFile(join(directory, 'scalers', name), text);
  await writeFile(configFile, demoServiceConfig(addresses));
  await writeFile(join(prometheus.directory, SERVICE_TARGETS_FILE), demoServiceTargets(port));
  const kubeconfig = join(directory, KUBECONFIG);
  await writeFile(kubeconfig, kubeconfigText(proxy.url, { namespace: DEMO_NAMESPACE }));
  return {
    directory,
    kubeconfig,
    configFile,
    logFile: join(directory, 'promscaler.log'),
    serviceUrl,
    prometheusUrl: prometheus.url,
    prometheus,
    releasePort: release,
    close: async () => {
      await release();
      await proxy.close();
    },
  };
}

export interface ApiProxy {
  readonly url: string;
  readonly close: () => Promise<void>;
}

const PROXY = new RegExp(
  `^/api/v1/namespaces/${DEMO_NAMESPACE}/services/(?:http:)?${DEMO_SERVICE}(?::\\w+)?/proxy(/.*)?$`,
);

/**
 * Starts a server like a real API server with a service proxy: it forwards requests for the Service of promscaler to
 * `serviceUrl` and all others to `apiUrl`. So one kubeconfig suffices for both.
 */
export async function startApiProxy(apiUrl: string, serviceUrl: string): Promise<ApiProxy> {
  const agent = new Agent({ keepAlive: true });
  const server = createServer((incoming, response) => {
    const path = incoming.url ?? '/';
    const proxied = PROXY.exec(path);
    const target = proxied === null ? new URL(apiUrl) : new URL(serviceUrl);
    forward(incoming, response, { target, path: proxied === null ? path : (proxied[1] ?? '/'), agent });
  });
  const url = await listen(server, 0);
  return {
    url,
    close: async () => {
      await shut(server);
      agent.destroy();
    },
  };
}

function forward(
  incoming: IncomingMessage,
  response: ServerResponse,
  { target, path, agent }: { readonly target: URL; readonly path: string; readonly agent: Agent },
): void {
  const { hostname, port, host } = target;
  const { method, headers } = incoming;
  const outgoing = request(
    { agent, hostname, port, method, path, headers: { ...headers, host } },
    (answer) => {
      response.writeHead(answer.statusCode ?? BAD_GATEWAY, answer.headers);
      // The headers are sent now, because the headers of a watch must not wait for its first event.
      response.flushHeaders();
      answer.pipe(response);
      answer.on('error', () => response.destroy());
    },
  );
  outgoing.on('error', () => {
    if (response.headersSent) response.destroy();
    else response.writeHead(BAD_GATEWAY).end();
  });
  // When the client closes a watch, the connection to the API server is closed as well.
  response.on('close', () => outgoing.destroy());
  incoming.on('error', () => outgoing.destroy());
  incoming.pipe(outgoing);
}

const BAD_GATEWAY = 502;

/**
 * The number of scrapes in a window of `rate` for which each pod must be ready. If there were fewer, the first
 * recommendations would be too low, and stabilization windows would hold the scalers at the start.
 */
const SCRAPES = RATE_SECONDS / SCRAPE_SECONDS + 1;

/** The window is a little longer than the time of `SCRAPES` scrapes, because a scrape may be late. */
const WINDOW = `{namespace="${DEMO_NAMESPACE}"}[${RATE_SECONDS + 5 * SCRAPE_SECONDS}s]`;

/** Conditions that are true when each pod has `SCRAPES` samples of CPU and requests, and the queue has a sample. */
const IS_SCRAPED = [
  `count(count by (pod) (count_over_time(container_cpu_usage_seconds_total${WINDOW}) >= ${SCRAPES})) >= ${DEMO_PODS}`,
  `count(count by (pod) (count_over_time(http_requests_total${WINDOW}) >= ${SCRAPES})) >= ${DEMO_PODS}`,
  `count(rabbitmq_queue_messages) >= 1`,
].join(' and ');

const PERIOD_MS = 250;
const QUERY_MS = 2000;

/** Maximum wait. If it is not long enough, the demo starts with incomplete metrics. */
const MOST_MS = 30_000;

/** Waits until Prometheus has the data for the first decisions, so that no metric is missing at the start. */
export async function waitUntilScraped(
  prometheusUrl: string,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  const { prometheus } = resolveServiceConfig({ prometheus: { default: { urls: [prometheusUrl] } } }, null);
  const source = prometheus['default'];
  if (source === undefined) return;
  const client = createPrometheusClient(source, clock);
  const start = clock.monotonicMs();
  while (!signal.aborted && clock.monotonicMs() - start < MOST_MS) {
    const answer = await client.query(IS_SCRAPED, { timeoutMs: QUERY_MS, signal });
    if (answer.class === 'value' && answer.series.length > 0) return;
    await sleep(clock, PERIOD_MS, signal);
  }
}
