import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startSimulator } from '../../src/simulator/simulator.js';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import { folderOf, runCli } from '../cli/fake-io.js';
import type { Ran } from '../cli/fake-io.js';
import { until } from '../support/until.js';

/** `promscaler run` in this process, with an embedded cluster and a data source with every kind of answer. */
export interface LiveService {
  readonly url: string;
  /** Stops the service and returns its output. */
  readonly close: () => Promise<Ran>;
}

/** Scalers of the namespace `shop`, each with another result. */
const SPECS: Readonly<Record<string, readonly string[]>> = {
  // Scales up from 3 replicas.
  web: ['metrics: [{ resource: { name: cpu, target: { averageUtilization: 60 } } }]'],
  // A Pods metric, a total and one that has no series.
  many: [
    'metrics:',
    '  - { pods: { metric: { name: rps }, query: by_pod, target: { averageValue: 50 } } }',
    '  - { external: { metric: { name: queue }, query: total, target: { value: 30 } } }',
    '  - { external: { metric: { name: gone }, query: nothing, target: { value: 30 } } }',
    'dryRun: true',
  ],
  // Its target does not exist.
  ghost: ['metrics: [{ external: { metric: { name: queue }, query: total, target: { value: 30 } } }]'],
};

/** Starts the service and waits until every scaler has decided twice. */
export async function startLiveService(): Promise<LiveService> {
  const simulator = await startSimulator({
    clock: SYSTEM_CLOCK,
    workloads: ['web', 'many'].map((name) => ({ namespace: 'shop', name, replicas: 3 })),
  });
  const pods = async (): Promise<readonly string[]> => {
    const list = (await (await fetch(`${simulator.url}/api/v1/namespaces/shop/pods`)).json()) as PodList;
    return list.items.map(({ metadata }) => metadata.name);
  };
  const prometheus = createServer((request, response) => {
    void readBody(request).then(async (body) => {
      const query = new URLSearchParams(body).get('query') ?? '';
      const isRange = request.url?.startsWith('/api/v1/query_range') === true;
      const result = isRange ? historyOf(query) : answerTo(query, await pods());
      const resultType = isRange ? 'matrix' : 'vector';
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify({ status: 'success', data: { resultType, result } }));
    });
  });
  await new Promise<void>((resolve) => prometheus.listen(0, '127.0.0.1', resolve));
  const folder = folderOf({
    'promscaler.yaml': `prometheus: { default: { urls: ['http://127.0.0.1:${(prometheus.address() as AddressInfo).port}'] } }
kubernetes: { url: '${simulator.url}' }
server: { port: 0 }
defaults: { syncPeriodSeconds: 1 }
`,
    ...Object.fromEntries(
      Object.entries(SPECS).map(([name, spec]) => [`scalers/${name}.yaml`, document(name, spec)]),
    ),
  });
  const stop = new AbortController();
  const written = { stdout: '', stderr: '' };
  const running = runCli(['run', '--config', 'promscaler.yaml'], {
    cwd: folder,
    signal: stop.signal,
    written,
  });
  const urlOf = (): string => /"url":"(http:[^"]+)"/.exec(written.stderr)?.[1] ?? '';
  const close = async (): Promise<Ran> => {
    stop.abort();
    const ran = await running;
    prometheus.closeAllConnections();
    await new Promise((resolve) => prometheus.close(resolve));
    await simulator.close();
    return ran;
  };
  try {
    await until(() => urlOf() !== '', 'the service to listen');
    const url = urlOf();
    await until(() => haveDecided(url), 'all scalers to have decided', 40);
    return { url, close };
  } catch (error) {
    const { stderr } = await close();
    throw new Error(`the service wrote:\n${stderr}`, { cause: error });
  }
}

interface PodList {
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
}

function document(name: string, spec: readonly string[]): string {
  return `apiVersion: promscaler.dev/v1
kind: Scaler
metadata: { name: ${name}, namespace: shop }
spec:
  scaleTargetRef: { name: ${name} }
  maxReplicas: 10
${spec.map((line) => `  ${line}\n`).join('')}`;
}

/** Returns a cpu usage far above the target, so that `web` scales up. */
function answerTo(query: string, pods: readonly string[]): readonly unknown[] {
  const value = [Date.now() / 1000, query.includes('cpu') ? '5' : '40'];
  if (query === 'total') return [{ metric: {}, value }];
  if (query !== 'by_pod' && !query.includes('cpu')) return [];
  return pods.map((pod) => ({ metric: { namespace: 'shop', pod, container: 'app' }, value }));
}

/** Returns what this Prometheus has scraped from the service: current replicas of `web`, a minute ago. */
function historyOf(query: string): readonly unknown[] {
  const hasSeries = query.includes('promscaler_current_replicas') && query.includes('scaler="web"');
  const minute = Math.floor(Date.now() / 60_000 - 1) * 60;
  return hasSeries ? [{ metric: { column: 'currentReplicas' }, values: [[minute, '3']] }] : [];
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  return body === '' ? ((request.url ?? '').split('?')[1] ?? '') : body;
}

/** Returns whether all scalers are listed and one has changed its target. */
async function haveDecided(url: string): Promise<boolean> {
  const items = async (page: string): Promise<readonly unknown[]> => {
    const body = (await (await fetch(`${url}/api/v1/scalers${page}`)).json()) as { items?: unknown[] };
    return body.items ?? [];
  };
  const isComplete = (await items('')).length === Object.keys(SPECS).length;
  return isComplete && (await items('/shop/web/decisions?changes=true')).length > 0;
}
