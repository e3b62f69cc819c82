import { afterEach } from '@jest/globals';
// Loaded here, because the command line loads it on demand, which would count toward the first test.
import '../../../src/cli/commands/run-service.js';
import { customResourceDefinition } from '../../../src/cli/schema/definition.js';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import type { JsonObject } from '../../../src/simulator/kinds/json.js';
import { startSimulator } from '../../../src/simulator/simulator.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import type { Clock } from '../../../src/units/clock.js';
import { startServer } from '../../prometheus/fakes.js';
import { send } from '../../simulator/cluster.js';
import type { Answer } from '../../simulator/cluster.js';
import { fastClock } from '../../support/fast-clock.js';
import { eventually } from '../../support/manual-clock.js';
import { folderOf, runCli } from '../fake-io.js';
import type { Ran } from '../fake-io.js';

/** Ten times as fast: a pass over the statuses takes 0.2 s, the first retry without a CRD 3 s. */
const SPEED = 10;

const endings: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

export interface Service {
  /** Directory of the service config. */
  readonly folder: string;
  readonly written: { readonly stdout: string; readonly stderr: string };
  readonly stop: () => Promise<Ran>;
}

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}

/** A cluster with Deployments `web` and `api` in `shop` and `web` in `lab`, and a Prometheus that returns `load`. */
export class ResourceFixture {
  readonly clock: Clock = fastClock(SPEED);
  /** The value of every query; null: no series. */
  load: number | null = 40;
  /** How often the load was queried: once in each round, which is once a second, for all scalers. */
  #queries = 0;

  readonly simulator: Simulator;
  prometheusUrl = '';

  private constructor(simulator: Simulator) {
    this.simulator = simulator;
  }

  static async create({ hasDefinition = true } = {}): Promise<ResourceFixture> {
    const workload = (namespace: string, name: string) => ({ namespace, name, replicas: 3 });
    const simulator = await startSimulator({
      clock: SYSTEM_CLOCK,
      namespaces: ['monitoring'],
      workloads: [workload('shop', 'web'), workload('shop', 'api'), workload('lab', 'web')],
    });
    endings.push(() => simulator.close());
    const fixture = new ResourceFixture(simulator);
    if (hasDefinition) fixture.define();
    const prometheus = await startServer((response, request) => {
      response.setHeader('content-type', 'application/json');
      const isQuery = request.url.startsWith('/api/v1/query');
      if (request.form.get('query')?.startsWith('sum(load)') === true) fixture.#queries += 1;
      const value = [fixture.clock.now() / 1000, String(fixture.load)];
      const result = fixture.load === null ? [] : [{ metric: {}, value }];
      const data = isQuery ? { resultType: 'vector', result } : {};
      response.end(JSON.stringify({ status: 'success', data }));
    });
    endings.push(() => prometheus.close());
    fixture.prometheusUrl = prometheus.url;
    return fixture;
  }

  /** Starts `run` with scalers of the cluster and one decision a second; stopped after the test. */
  start(
    options: {
      readonly files?: Readonly<Record<string, string>>;
      readonly env?: Readonly<Record<string, string>>;
      readonly args?: readonly string[];
      /** More lines of the service config. */
      readonly config?: string;
      readonly sources?: string;
      /** The watched namespaces, as YAML. */
      readonly namespaces?: string;
    } = {},
  ): Service {
    const { files = {}, env = {}, args = [], config = '' } = options;
    const cwd = folderOf({
      'promscaler.yaml': `prometheus: ${options.sources ?? `{ default: { urls: ['${this.prometheusUrl}'] } }`}
kubernetes: { url: '${this.simulator.url}', namespaces: ${options.namespaces ?? '[]'} }
scalers: { customResources: true }
server: { port: 0, groupLabel: team }
defaults: { syncPeriodSeconds: 1 }
${config}`,
      ...files,
    });
    const written = { stdout: '', stderr: '' };
    const stop = new AbortController();
    const ended = runCli(['run', '--config', 'promscaler.yaml', ...args], {
      cwd,
      env,
      clock: this.clock,
      signal: stop.signal,
      written,
    });
    const end = (): Promise<Ran> => {
      stop.abort();
      return ended;
    };
    endings.push(end);
    return { folder: cwd, written, stop: end };
  }

  /** Installs the CRD. */
  define(): void {
    this.simulator.addObject(customResourceDefinition() as JsonObject);
  }

  apply(name: string, spec: JsonObject = {}, namespace = 'shop'): void {
    this.simulator.addObject(scalerObject(name, spec, namespace));
  }

  edit(name: string, spec: JsonObject, namespace = 'shop'): Promise<Answer> {
    return send(this.simulator, 'PATCH', pathOf(namespace, name), { body: { spec } });
  }

  remove(name: string, namespace = 'shop'): Promise<Answer> {
    return send(this.simulator, 'DELETE', pathOf(namespace, name));
  }

  status(name: string, namespace = 'shop'): JsonObject {
    const object = this.simulator.getObject('promscaler.dev/scalers', namespace, name);
    return (object?.['status'] ?? {}) as JsonObject;
  }

  condition(name: string, type: string, namespace = 'shop'): Condition | null {
    const conditions = (this.status(name, namespace)['conditions'] ?? []) as unknown as Condition[];
    return conditions.find((one) => one.type === type) ?? null;
  }

  /** Waits for a condition with this status and reason. */
  async shows(name: string, expected: string, namespace = 'shop'): Promise<void> {
    const shown = (): string => {
      const [type = ''] = expected.split(' ');
      const found = this.condition(name, type, namespace);
      return found === null ? '' : `${found.type} ${found.status} ${found.reason}`;
    };
    await eventually(() => shown() === expected, `${namespace}/${name} ${expected}`);
  }

  /** Waits for more rounds. */
  async rounds(count: number): Promise<void> {
    const last = this.#queries + count;
    await eventually(() => this.#queries >= last, `${count} more rounds`);
  }

  /** Returns the objects that Events with this reason are about. */
  events(reason: string): readonly JsonObject[] {
    return this.simulator
      .listObjects('/events')
      .filter((event) => event['reason'] === reason)
      .map((event) => event['involvedObject'] as JsonObject);
  }

  replicas(name: string, namespace = 'shop'): number {
    return this.simulator.describe({ namespace, name }).replicas;
  }

  /** Returns the requests for scalers, as `VERB NAMESPACE`; those only for their status, as `VERB status`. */
  requests(): readonly string[] {
    return this.simulator
      .requests()
      .filter(({ resource }) => resource === 'scalers')
      .map(({ verb, namespace, subresource }) =>
        [verb ?? '', subresource === 'status' ? 'status' : (namespace ?? '')].join(' ').trim(),
      );
  }

  /** Counts the status writes. */
  statusWrites(): number {
    return this.requests().filter((one) => one === 'patch status').length;
  }
}

function pathOf(namespace: string, name: string): string {
  return `/apis/promscaler.dev/v1/namespaces/${namespace}/scalers/${name}`;
}

/** Builds a scaler that wants one replica per 10 of the load: 4 at first. */
export function scalerObject(name: string, spec: JsonObject = {}, namespace = 'shop'): JsonObject {
  return {
    apiVersion: 'promscaler.dev/v1',
    kind: 'Scaler',
    metadata: { name, namespace, labels: { team: 'a' }, annotations: { 'example.com/note': 'x' } },
    spec: {
      scaleTargetRef: { name },
      maxReplicas: 20,
      downscaleStabilizationSeconds: 0,
      metrics: [{ external: { metric: { name: 'load' }, query: 'sum(load)', target: { averageValue: 10 } } }],
      ...spec,
    },
  };
}
