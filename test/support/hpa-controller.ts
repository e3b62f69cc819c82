import type { JsonObject } from '../../src/simulator/kinds/json.js';
import type { Simulator } from '../../src/simulator/simulator.js';
import { sleep, type Clock } from '../../src/units/clock.js';

/** A write of the controller to the scale of a workload. */
export interface HpaWrite {
  readonly from: number;
  readonly to: number;
}

interface Hpa {
  readonly metadata: { readonly namespace: string; readonly name: string };
  readonly spec: {
    readonly scaleTargetRef: { readonly name: string };
    readonly minReplicas?: number;
    readonly maxReplicas: number;
    readonly metrics: readonly {
      readonly external?: { readonly target: { readonly averageValue: string } };
      readonly resource?: { readonly target: { readonly averageUtilization: number } };
    }[];
  };
}

const TOLERANCE = 0.1;
const WINDOW_MS = 300_000;

/** The status while the target has 0 replicas: the controller does not scale it up, unless `minReplicas` is 0. */
const DISABLED = {
  currentReplicas: 0,
  desiredReplicas: 0,
  currentMetrics: null,
  conditions: [
    {
      type: 'ScalingActive',
      status: 'False',
      reason: 'ScalingDisabled',
      message: 'scaling is disabled since the replica count of the target is zero',
    },
  ],
};

interface HpaOptions {
  /** The value of an External metric, or the sum of the utilization of the pods in percent; null: there is none yet. */
  readonly loadOf: (workload: string) => number | null;
  readonly periodSeconds?: number;
  /** Default: the HPAs of all namespaces. */
  readonly namespace?: string;
}

/**
 * A model of the HPA controller for a simulated cluster, for Deployments with one External metric or cpu utilization:
 * tolerance, at most twice the replicas or 4 of them, and 300 s of downscale stabilization. All pods are taken to be
 * ready. Source: pkg/controller/podautoscaler/horizontal.go
 */
export class HpaController {
  readonly writes: HpaWrite[] = [];
  readonly #stop = new AbortController();
  readonly #recommendations = new Map<string, { readonly atMs: number; readonly count: number }[]>();
  readonly #ended: Promise<void>;
  readonly #simulator: Simulator;
  readonly #clock: Clock;
  readonly #options: HpaOptions;

  constructor(simulator: Simulator, clock: Clock, options: HpaOptions) {
    this.#simulator = simulator;
    this.#clock = clock;
    this.#options = options;
    this.#ended = this.#run();
  }

  stop(): Promise<void> {
    this.#stop.abort();
    return this.#ended;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const { namespace, periodSeconds = 1 } = this.#options;
      const hpas = this.#simulator.listObjects('autoscaling/horizontalpodautoscalers', namespace);
      for (const hpa of hpas) await this.#sync(hpa as unknown as Hpa);
      await sleep(this.#clock, periodSeconds * 1000, signal);
    }
  }

  async #sync({ metadata: { namespace, name }, spec }: Hpa): Promise<void> {
    const target = { namespace, name: spec.scaleTargetRef.name };
    if (this.#simulator.getObject('apps/deployments', namespace, target.name) === null) return;
    const { replicas } = this.#simulator.describe(target);
    const path = `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers/${name}/status`;
    if (replicas === 0 && spec.minReplicas !== 0) {
      await this.#send(path, { status: DISABLED });
      return;
    }
    const load = this.#options.loadOf(spec.scaleTargetRef.name);
    if (load === null) return;
    const desired = this.#decide(`${namespace}/${name}`, spec, { replicas, load });
    if (desired !== replicas) {
      this.writes.push({ from: replicas, to: desired });
      this.#simulator.setReplicas(target, desired, 'hpa');
    }
    await this.#send(path, {
      status: {
        currentReplicas: replicas,
        desiredReplicas: desired,
        lastScaleTime: '2026-01-01T00:00:00Z',
        currentMetrics: [
          {
            type: 'External',
            external: { metric: { name: 'load' }, current: { averageValue: String(load) } },
          },
        ],
        conditions: [{ type: 'ScalingActive', status: 'True', reason: 'ValidMetricFound', message: '' }],
      },
    });
  }

  #decide(
    key: string,
    { minReplicas = 1, maxReplicas, metrics }: Hpa['spec'],
    { replicas, load }: { readonly replicas: number; readonly load: number },
  ): number {
    const [metric] = metrics;
    const target =
      metric?.resource?.target.averageUtilization ?? Number(metric?.external?.target.averageValue);
    const ratio = load / (target * replicas);
    const proposal = Math.abs(ratio - 1) <= TOLERANCE ? replicas : Math.ceil(load / target);
    const nowMs = this.#clock.monotonicMs();
    // Like the controller, begins with the present count.
    const known = this.#recommendations.get(key) ?? [{ atMs: nowMs, count: replicas }];
    const recent = [...known, { atMs: nowMs, count: proposal }].filter(
      ({ atMs }) => nowMs - atMs < WINDOW_MS,
    );
    this.#recommendations.set(key, recent);
    const stable = Math.max(...recent.map(({ count }) => count));
    const limited = Math.min(stable, Math.max(2 * replicas, 4));
    return Math.min(Math.max(limited, minReplicas), maxReplicas);
  }

  async #send(path: string, body: JsonObject): Promise<void> {
    const headers = { 'content-type': 'application/merge-patch+json', 'user-agent': 'hpa-controller' };
    // A failed write is repeated in the next period.
    await fetch(this.#simulator.url + path, { method: 'PATCH', headers, body: JSON.stringify(body) }).catch(
      () => undefined,
    );
  }
}
