import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { acceptsGzip, createTrafficMeter, packBody, readBody, sendJson } from './traffic.js';
import type { TrafficMeter } from './traffic.js';
import type { FakeDeployment, FakePod } from './objects.js';
import { PERIOD_SECONDS, usageOf } from './workloads.js';
import type { Simulation } from './simulation.js';
import type { SimulationClock } from './simulation-clock.js';

/** A Prometheus that answers the queries of the benchmark's documents from the simulation, and no others. */
export interface FakeMetricsServer {
  readonly server: Server;
  readonly meter: TrafficMeter;
}

const DAY_MS = 86_400_000;

/** `packs`: whether answers are compressed for clients that accept it. */
export function createMetricsServer(
  simulation: Simulation,
  clock: SimulationClock,
  packs = true,
): FakeMetricsServer {
  const server = createServer((request, response) => void answer(request, response));
  server.keepAliveTimeout = 0;
  const meter = createTrafficMeter(server);
  const startTime = new Date(clock.startMs - DAY_MS).toISOString();

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    meter.begin(response);
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    const form = new URLSearchParams(await readBody(request));
    const query = form.get('query') ?? searchParams.get('query');
    const send = (data: string): void => {
      const body = `{"status":"success","data":${data}}`;
      if (packs && acceptsGzip(request)) sendJson(response, packBody(body), { isPacked: true });
      else sendJson(response, body);
    };
    switch (pathname) {
      case '/api/v1/query': {
        const { kind, series } = answerQuery(simulation, clock, query ?? '');
        meter.count(`query ${kind}`);
        send(`{"resultType":"vector","result":[${series.join(',')}]}`);
        return;
      }
      case '/api/v1/query_range':
        meter.count('query_range');
        send(`{"resultType":"matrix","result":[${historyOf(query ?? '', form)}]}`);
        return;
      case '/api/v1/status/runtimeinfo':
        meter.count('runtimeinfo');
        send(`{"startTime":"${startTime}","CWD":"/","goroutineCount":50,"storageRetention":"15d"}`);
        return;
      case '/api/v1/status/buildinfo':
        meter.count('buildinfo');
        send('{"version":"3.5.0","revision":"fake","branch":"HEAD"}');
        return;
      default:
        meter.count(pathname);
        sendJson(response, '{"status":"error"}', { status: 404 });
    }
  };
  return { server, meter };
}

const WORKLOAD = /"(?:\(\?:)?([a-z][a-z0-9-]*)-\[/;

/** Returns the load of a workload in earlier days: each half hour, it is higher by half for five minutes. */
function historyOf(query: string, form: URLSearchParams): string {
  const [start = 0, end = 0, step = 60] = ['start', 'end', 'step'].map((name) => Number(form.get(name)));
  const values: string[] = [];
  for (let at = start; at <= end; at += step) values.push(`[${at},"${(at / 60) % 30 < 25 ? 4 : 6}"]`);
  const service = WORKLOAD.exec(query)?.[1] ?? '';
  return `{"metric":{"promscaler_target":"yes","service":"${service}"},"values":[${values.join(',')}]}`;
}

interface QueryAnswer {
  readonly kind: 'resource' | 'own' | 'shared' | 'check' | 'interval' | 'unknown';
  readonly series: readonly string[];
}

const CPU = /^sum by \(namespace, pod, container\).*container_cpu_usage_seconds_total\{namespace=~"([^"]*)"/;
const OWN = /^sum by \(pod\).*http_requests_total\{namespace="([^"]*)", pod=~"(?:\(\?:)?([^"[)]*)\)?-\[/;
const SHARED = /^sum by \(service, pod\).*http_requests_total\{namespace="([^"]*)"\}/;
/** Questions for series that exist twice: here none does. */
const CHECK = /^(?:max by|count|topk)/;
/** The scrape interval of some workloads, which is that of Prometheus in the other benchmarks. */
const INTERVAL = /^quantile by \(job\)/;
const INTERVAL_SECONDS = 15;

function answerQuery(simulation: Simulation, clock: SimulationClock, query: string): QueryAnswer {
  const nowMs = clock.now();
  const slot = Math.floor((nowMs - clock.startMs) / 1000 / PERIOD_SECONDS);
  const at = (nowMs / 1000).toFixed(3);
  const write = (
    deployments: Iterable<FakeDeployment>,
    metric: 'cpu' | 'requests',
    labels: (deployment: FakeDeployment) => string,
  ): readonly string[] => {
    const series: string[] = [];
    for (const deployment of deployments) {
      const words = labels(deployment);
      const ready = readyPods(deployment);
      for (const { name, number } of ready) {
        const load = { pod: number, ready: ready.length, slot, pods: simulation.size.pods };
        const value = usageOf(deployment.workload, load, metric);
        series.push(`{"metric":{${words}"pod":"${name}"},"value":[${at},"${value}"]}`);
      }
    }
    return series;
  };
  const inNamespace = (name = ''): Iterable<FakeDeployment> =>
    simulation.deployments.get(name)?.values() ?? [];

  const cpu = CPU.exec(query);
  if (cpu !== null) {
    const namespaces = (cpu[1] ?? '').split('|');
    const labels = ({ workload }: FakeDeployment): string =>
      `"namespace":"${workload.namespace}","container":"app",`;
    return {
      kind: 'resource',
      series: namespaces.flatMap((name) => write(inNamespace(name), 'cpu', labels)),
    };
  }
  const own = OWN.exec(query);
  if (own !== null) {
    const deployments = simulation.deployments.get(own[1] ?? '');
    const asked = (own[2] ?? '').split('|').flatMap((name) => deployments?.get(name) ?? []);
    return { kind: 'own', series: write(asked, 'requests', () => '') };
  }
  const shared = SHARED.exec(query);
  if (shared !== null) {
    const labels = ({ workload }: FakeDeployment): string => `"service":"${workload.name}",`;
    // Only services that a gateway knows have requests: half of them.
    const deployments = Array.from(inNamespace(shared[1])).filter(({ workload }) => workload.kind !== 'cpu');
    return { kind: 'shared', series: write(deployments, 'requests', labels) };
  }
  if (INTERVAL.test(query))
    return {
      kind: 'interval',
      series: [`{"metric":{"job":"kubelet"},"value":[${at},"${INTERVAL_SECONDS}"]}`],
    };
  return { kind: CHECK.test(query) ? 'check' : 'unknown', series: [] };
}

/** A terminating pod still runs. */
function readyPods({ pods }: FakeDeployment): readonly FakePod[] {
  return Array.from(pods.values()).filter(({ isReady }) => isReady);
}
