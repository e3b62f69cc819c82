import { afterAll } from '@jest/globals';
// Loaded here, because the command line loads them on demand, which would count toward the first test.
import '../../../src/cli/commands/run-doctor.js';
import '../../../src/cli/commands/run-validate.js';
import type { CheckName, CheckResult } from '../../../src/cli/checks/check-result.js';
import type { DoctorReport } from '../../../src/cli/checks/report.js';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import {
  type Simulator,
  type SimulatorOptions,
  startSimulator,
  type WorkloadOptions,
} from '../../../src/simulator/simulator.js';
import type { Clock } from '../../../src/units/clock.js';
import type { Series } from '../../../src/prometheus/answers/columns.js';
import { type FakeServer, startServer } from '../../prometheus/fakes.js';
import { folderOf, runCli } from '../fake-io.js';

const endings: (() => Promise<void>)[] = [];

afterAll(async () => {
  await Promise.all(endings.map((end) => end()));
});

/** The answer to queries that match the pattern; a number is one series no labels. */
export type Scripted = readonly [RegExp, readonly Series[] | number | Scraped | Newest];

/** A series with a range: the ages of its scrapes in seconds, the oldest first. */
export interface Scraped {
  readonly secondsAgo: readonly number[];
}

/** A series for each target, whose value is the time of its newest sample, this many seconds ago. */
export interface Newest {
  readonly newestSecondsAgo: readonly number[];
}

/** Starts a cluster with the given workloads until the tests of the file have ended. */
export async function cluster(options: Omit<SimulatorOptions, 'clock'>): Promise<Simulator> {
  const simulator = await startSimulator({ clock: SYSTEM_CLOCK, ...options });
  endings.push(() => simulator.close());
  return simulator;
}

/** Starts a cluster with the Deployment `shop/web` of 2 ready pods. */
export async function clusterOfWeb(): Promise<{
  readonly simulator: Simulator;
  readonly pods: readonly string[];
}> {
  const web = { namespace: 'shop', name: 'web' };
  const simulator = await cluster({ workloads: [{ ...web, replicas: 2 }] });
  return { simulator, pods: simulator.describe(web).pods };
}

/** Starts a server that answers every request with `respond`. */
export async function server(respond: Parameters<typeof startServer>[0]): Promise<FakeServer> {
  const started = await startServer(respond);
  endings.push(() => started.close());
  return started;
}

/** Starts a scripted Prometheus API: the first matching pattern answers, no match is an empty vector. */
export function prometheus(script: readonly Scripted[], { aheadSeconds = 0 } = {}): Promise<FakeServer> {
  return server((response, request) => {
    const url = new URL(request.url, 'http://x');
    response.setHeader('Content-Type', 'application/json');
    if (url.pathname !== '/api/v1/query') {
      response.statusCode = url.pathname.startsWith('/api/v1/') ? 200 : 404;
      response.end('{"status":"success","data":{}}');
      return;
    }
    const query = request.form.get('query') ?? url.searchParams.get('query') ?? '';
    const seconds = Date.now() / 1000 + aheadSeconds;
    const scripted = script.find(([pattern]) => pattern.test(query))?.[1];
    const usual = new Map([
      ['time()', seconds],
      ['count(up)', 3],
    ]);
    const answer = scripted ?? usual.get(query) ?? [];
    if (typeof answer === 'object' && 'secondsAgo' in answer) {
      const values = answer.secondsAgo.map((ago) => [seconds - ago, '1']);
      response.end(
        JSON.stringify({
          status: 'success',
          data: { resultType: 'matrix', result: [{ metric: {}, values }] },
        }),
      );
      return;
    }
    const series = seriesOf(answer, seconds);
    const result = series.map(({ labels, value }) => ({ metric: labels, value: [seconds, String(value)] }));
    response.end(JSON.stringify({ status: 'success', data: { resultType: 'vector', result } }));
  });
}

function seriesOf(answer: readonly Series[] | number | Newest, nowSeconds: number): readonly Series[] {
  if (typeof answer === 'number') return [{ labels: {}, value: answer }];
  if (!('newestSecondsAgo' in answer)) return answer;
  return answer.newestSecondsAgo.map((ago, index) => ({
    labels: { job: 'cadvisor', instance: `node-${index}` },
    value: nowSeconds - ago,
  }));
}

/** Returns the cpu of each container `app` of these pods of namespace `shop`, scraped every 30 s. */
export function healthy(pods: readonly string[], cores = 0.3): readonly Scripted[] {
  return [
    [
      /^sum by \(namespace, pod, container\) \(rate\(container_cpu/,
      pods.map((pod) => ({ labels: { namespace: 'shop', pod, container: 'app' }, value: cores })),
    ],
    [/^max\(count by \(namespace, pod, container\)/, 1],
    ...scraped(every(30, 900)),
    ...newest([12, 25], 30),
  ];
}

/** The containers are scraped every 5 s, so the window is 20 s unless it is set. */
export const EVERY_5_S: Scripted = [
  /^quantile by \(job\) .*container_cpu/,
  [{ labels: { job: 'cadvisor' }, value: 5 }],
];

/** Returns the scrapes of the containers, in seconds ago. */
export function scraped(secondsAgo: readonly number[]): readonly Scripted[] {
  return [
    [/^topk\(1, count_over_time\(container_cpu/, [{ labels: { pod: 'a' }, value: secondsAgo.length }]],
    [/^container_cpu_usage_seconds_total\{pod="a"\}\[/, { secondsAgo }],
  ];
}

/** Returns the newest samples of the targets, in seconds ago, and their scrape interval. */
export function newest(
  newestSecondsAgo: readonly number[],
  intervalSeconds: number,
  name = 'container_cpu',
): readonly Scripted[] {
  return [
    [
      new RegExp(`^quantile by \\(job\\) .*${name}`),
      [{ labels: { job: 'cadvisor' }, value: intervalSeconds }],
    ],
    [new RegExp(`^max by \\(job, instance\\) \\(timestamp\\(${name}`), { newestSecondsAgo }],
  ];
}

/** Returns a scrape every `interval` seconds, over the last `seconds`. */
export function every(interval: number, seconds: number): readonly number[] {
  return Array.from({ length: Math.floor(seconds / interval) }, (_, index) => index * interval).reverse();
}

/** Builds a document for namespace `shop`; without `metrics` it has cpu at 80 %. */
export function document(name: string, spec = ''): string {
  const namespace = /^ {2}namespace: (\S+)$/m.exec(spec)?.[1] ?? 'shop';
  return `apiVersion: promscaler.dev/v1
kind: Scaler
metadata: { name: ${name}, namespace: ${namespace} }
spec:
  minReplicas: 1
  maxReplicas: 12
${spec.includes('scaleTargetRef') ? '' : `  scaleTargetRef: { name: ${name} }\n`}${spec.replace(/^ {2}namespace: .*\n/m, '')}`;
}

/** Builds a metric with this query. */
export function metric(type: 'external' | 'object' | 'pods', query: string, more = ''): string {
  const target = type === 'pods' ? '{ averageValue: 10 }' : '{ value: 10 }';
  const object = type === 'object' ? ', describedObject: { kind: Service, name: x }' : '';
  return `  metrics:
    - ${type}: { metric: { name: m${more} }, query: '${query}', target: ${target}${object} }
`;
}

export interface Asked {
  readonly prometheus?: string;
  /** More fields of the data source `default`, as YAML in braces: `, timeoutSeconds: 1`. */
  readonly source?: string;
  readonly kubernetes?: string;
  /** Of the config, as YAML. */
  readonly namespaces?: string;
  /** More lines of the service config. */
  readonly config?: string;
  readonly documents?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  readonly clock?: Clock;
}

export interface Diagnosis extends DoctorReport {
  readonly exitCode: number;
  /** The results of one check, except those that are ok. */
  readonly of: (check: CheckName) => readonly CheckResult[];
}

/** Runs `doctor -o json` and returns its results. */
export async function diagnosed(asked: Asked): Promise<Diagnosis> {
  const { exitCode, stdout, stderr } = await runDoctor({
    ...asked,
    args: ['-o', 'json', ...(asked.args ?? [])],
  });
  if (stderr !== '') throw new Error(stderr);
  const report = JSON.parse(stdout) as DoctorReport;
  return {
    ...report,
    exitCode,
    of: (check) => report.results.filter((one) => one.check === check && one.status !== 'ok'),
  };
}

/** Runs `doctor` in its own directory. */
export function runDoctor(asked: Asked & { readonly isTerminal?: boolean }): ReturnType<typeof runCli> {
  const { args = [], clock, isTerminal = false } = asked;
  const cwd = folderOf({
    'promscaler.yaml': serviceConfig(asked),
    'scalers/.keep': '',
    ...documentFiles(asked.documents ?? {}),
  });
  return runCli(['doctor', '--config', 'promscaler.yaml', ...args], {
    cwd,
    isTerminal,
    ...(clock === undefined ? {} : { clock }),
  });
}

export function serviceConfig({
  prometheus: url,
  source = '',
  kubernetes,
  namespaces = '[]',
  config = '',
}: Asked): string {
  return `prometheus: { default: { urls: ['${url ?? 'http://127.0.0.1:1'}']${source} } }
kubernetes: { url: '${kubernetes ?? 'http://127.0.0.1:1'}', namespaces: ${namespaces} }
${config}`;
}

function documentFiles(documents: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(documents).map(([name, text]) => [`scalers/${name}.yaml`, text]));
}

/** Diagnoses documents of a cluster whose pods all have healthy series. */
export async function diagnoseHealthy(
  simulator: Simulator,
  documents: Readonly<Record<string, string>>,
): Promise<Diagnosis> {
  const pods = simulator.listObjects('/pods', 'shop').map(({ metadata }) => metadata.name);
  const { url } = await prometheus(healthy(pods));
  return diagnosed({ prometheus: url, kubernetes: simulator.url, documents });
}

/** A workload of the namespace shop with two replicas. */
export const shop = (name: string, more: Partial<WorkloadOptions> = {}): WorkloadOptions => ({
  namespace: 'shop',
  name,
  replicas: 2,
  ...more,
});
