import { afterEach } from '@jest/globals';
import { parse } from 'yaml';
import type { FaultMatch } from '../../../src/simulator/api/requests/faults.js';
import type { JsonObject } from '../../../src/simulator/kinds/json.js';
import type { KubeObject } from '../../../src/simulator/objects/kube-object.js';
import { HpaController } from '../../support/hpa-controller.js';
import { eventually } from '../../support/manual-clock.js';
import { until } from '../../support/until.js';
import { type Ran, folderOf, runCli } from '../fake-io.js';
import { ResourceFixture, type Service } from '../run/custom-resources-fixture.js';

const endings: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

const HPAS = 'autoscaling/horizontalpodautoscalers';

export const HPA = parse(`
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: web
  namespace: shop
  labels: { team: a }
  annotations: { example.com/owner: shop }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: web }
  minReplicas: 2
  maxReplicas: 20
  metrics:
    - type: External
      external: { metric: { name: load }, target: { type: AverageValue, averageValue: '10' } }
`) as JsonObject;

const ADAPTER = `externalRules:
  - seriesQuery: '{__name__="load"}'
    name: { matches: ^load$, as: load }
    resources: { namespaced: false }
    metricsQuery: sum(<<.Series>>{<<.LabelMatchers>>})
`;

interface FixtureOptions {
  readonly args?: readonly string[];
  /** The namespaces that the service watches, as YAML; default: all. */
  readonly namespaces?: string;
  /** Requests that the API server answers with 403 from the start. */
  readonly forbidden?: FaultMatch;
}

/** A cluster with the HPA `shop/web` and its controller, both wanting 4 replicas at first, and a running service. */
export class AdoptFixture {
  readonly cluster: ResourceFixture;
  readonly controller: HpaController;
  readonly service: Service;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** Every count that the workload had since the HPA has settled, without repetitions. */
  readonly counts: number[] = [];
  /** What the HPA reads while Prometheus returns no series. */
  hpaLoad = 40;
  /** The adopted object. */
  name = 'hpa/web';
  command = 'promscaler';

  private constructor(cluster: ResourceFixture, { forbidden, ...options }: FixtureOptions) {
    this.cluster = cluster;
    if (forbidden !== undefined) cluster.simulator.faults.add(forbidden, { kind: 'forbid' });
    cluster.simulator.addObject(HPA);
    this.controller = new HpaController(cluster.simulator, cluster.clock, {
      loadOf: () => cluster.load ?? this.hpaLoad,
    });
    endings.push(() => this.controller.stop());
    this.folder = folderOf({ 'adapter.yaml': ADAPTER, kubeconfig: cluster.simulator.kubeconfig() });
    this.env = { KUBECONFIG: `${this.folder}/kubeconfig`, HOME: this.folder };
    this.service = cluster.start(options);
  }

  static async create(options: FixtureOptions = {}): Promise<AdoptFixture> {
    const fixture = new AdoptFixture(await ResourceFixture.create(), options);
    await eventually(
      () => fixture.cluster.replicas('web') === 4 && fixture.url() !== '',
      'the HPA to scale to 4',
    );
    fixture.#watch();
    return fixture;
  }

  #watch(): void {
    const timer = setInterval(() => {
      // A test may delete the target.
      if (this.cluster.simulator.getObject('apps/deployments', 'shop', 'web') === null) return;
      const count = this.cluster.replicas('web');
      if (this.counts.at(-1) !== count) this.counts.push(count);
    }, 5);
    endings.push(() => {
      clearInterval(timer);
      return Promise.resolve();
    });
  }

  /** URL of the service. */
  url(): string {
    return /"url":"(http:[^"]+)"/.exec(this.service.written.stderr)?.[1] ?? '';
  }

  args(...rest: readonly string[]): readonly string[] {
    return ['adopt', this.name, '-n', 'shop', ...rest, '--url', this.url()];
  }

  run(...rest: readonly string[]): Promise<Ran> {
    const { folder: cwd, env, command } = this;
    return runCli(this.args(...rest), { cwd, env, command, clock: this.cluster.clock });
  }

  /** Starts the dry run, and waits until some rounds have been compared. */
  async start(): Promise<Ran> {
    const ran = await this.run('--adapter-config', 'adapter.yaml');
    if (ran.exitCode !== 0) throw new Error(ran.stderr);
    await this.compared(3);
    return ran;
  }

  /** Waits for more decisions of the service. */
  async decided(count: number): Promise<void> {
    const seen = new Set<string>();
    await until(async () => {
      const response = await fetch(`${this.url()}/api/v1/scalers`);
      const { items } = (await response.json()) as { readonly items: readonly { readonly at: string }[] };
      for (const { at } of items.slice(0, 1)) seen.add(at);
      return seen.size > count;
    }, `${count} more decisions`);
  }

  async compared(rounds: number): Promise<void> {
    const enough = async (): Promise<boolean> => {
      const { stdout } = await this.run('--report', '-o', 'json');
      return stdout !== '' && (JSON.parse(stdout) as { readonly rounds: number }).rounds >= rounds;
    };
    await until(enough, `${rounds} compared rounds`);
  }

  hpa(): KubeObject | null {
    return this.cluster.simulator.getObject(HPAS, 'shop', 'web');
  }

  scaler(): KubeObject | null {
    return this.cluster.simulator.getObject('promscaler.dev/scalers', 'shop', 'web');
  }

  generation(): unknown {
    return this.scaler()?.metadata['generation'];
  }

  isDryRun(): boolean {
    return (this.scaler()?.['spec'] as JsonObject | undefined)?.['dryRun'] === true;
  }
}
