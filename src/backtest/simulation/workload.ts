import { errorSample } from '../../decision/snapshot/judge-sample.js';
import type { Snapshot } from '../../decision/snapshot/snapshot.js';
import type { Scaler } from '../../scaler/spec.js';
import type { Milli } from '../../units/quantity.js';
import { earliest, type Instant, latest } from '../../units/time.js';
import type { Load } from './load.js';
import type { CountStep } from './count-steps.js';
import { createFleet, type PodOrder } from './fleet.js';
import { createQueue, type Queue, type QueueInput } from './queue.js';
import { createShareCurve, type MetricModel, NO_DATA, type ShareCurve, takeSample } from './samples.js';
import type { PodStart } from './settings.js';

/**
 * A load, the pods that serve it, and how they are measured. `L`: the form of a load, which is a number on the way to a
 * worker thread.
 */
export interface WorkloadInput<L = Load> {
  readonly start: Instant;
  readonly end: Instant;
  /** A model for each metric of the document, in the same order; null: the metric is omitted. */
  readonly models: readonly (MetricModel<L> | null)[];
  readonly initialReplicas: number;
  readonly podStart: PodStart;
  readonly scrapeIntervalSeconds: number;
  readonly requests: ReadonlyMap<string, ReadonlyMap<string, Milli>>;
  /** The CPU limit of each pod, which only `saturation` and `forecast` use. Default: none. */
  readonly cpuLimit?: Milli | undefined;
  /** The values of the query of `maxReplicasFrom`. In a gap, the query has no answer. Default: no query. */
  readonly ceiling?: L | undefined;
  /** The order in which pods are created. Default: `parallel`. */
  readonly order?: PodOrder;
  /** The queue for load that the ready pods cannot serve at once. Default: none, and that load is lost. */
  readonly queue?: QueueInput<L> | undefined;
  /**
   * When the simulation begins, at or before `start`, so that windows have data at `start`. It begins later if a load
   * begins later. Rounds before `start` are not in the result. Default: `start`.
   */
  readonly warmUpFrom?: Instant;
}

/** Simulated pods that serve a load, and their metrics. */
export interface Workload {
  /** When the simulation begins: see `warmUpFrom`. */
  readonly begin: Instant;
  /** The values of `.spec.replicas` since `begin`. Later steps are appended to the list. */
  readonly replicas: readonly CountStep[];
  /** The ready pods since `begin`. Later steps are appended to the list. */
  readonly ready: readonly CountStep[];
  /** Simulates the load until `now`, and the pods that become ready in this time. */
  readonly advanceTo: (now: Instant) => void;
  readonly observe: (
    now: Instant,
  ) => Pick<Snapshot, 'target' | 'pods' | 'samples' | 'maxReplicasFrom' | 'podStartSeconds'>;
  readonly scaleTo: (count: number, now: Instant) => void;
  /** Null: there is no queue. */
  readonly queue: Queue | null;
}

/** Creates a workload. Each metric of `scaler` must have a model. This and `scaleTo` throw `FleetError`. */
export function createWorkload(scaler: Scaler, input: WorkloadInput): Workload {
  const models = input.models.filter((model) => model !== null);
  const begin = beginOf(input, models);
  const fleet = createFleet({
    replicas: input.initialReplicas,
    start: begin,
    podStart: input.podStart,
    requests: input.requests,
    order: input.order ?? 'parallel',
    cpuLimit: input.cpuLimit,
  });
  const queue = queueOf(input, models);
  const curves = models.map((model) => (hasCurve(model) ? createShareCurve(begin) : null));
  // With `podStart: {}`, the service learns the start time. Here, it is the 95th percentile of the simulated pods.
  const podStart =
    scaler.spec.podStart === null
      ? {}
      : { podStartSeconds: scaler.spec.podStart.seconds ?? Math.ceil(input.podStart.p95Seconds) };
  const replicas: CountStep[] = [];
  const ready: CountStep[] = [];
  let carriedUntil = begin;

  const note = (now: Instant): void => {
    noteCount(replicas, fleet.replicas(), now);
    noteCount(ready, fleet.readyCount(), now);
  };
  note(begin);

  return {
    begin,
    replicas,
    ready,
    advanceTo: (to) => {
      while (carriedUntil < to) {
        const until = earliest(fleet.nextReadyAt() ?? to, to);
        carryLoad(
          { from: carriedUntil, to: until, ready: fleet.readyCount() },
          { models, curves, queue, input },
        );
        carriedUntil = until;
        fleet.advanceTo(until);
        note(until);
      }
    },
    observe: (now) => {
      const pods = fleet.pods();
      const { scrapeIntervalSeconds } = input;
      const samples = scaler.spec.metrics.map((metric, index) => {
        const model = models[index];
        if (model === undefined) throw new Error(`no model for metric ${index}`);
        const shares = curves[index] ?? null;
        return takeSample(metric, model, { now, pods, shares, ready, scrapeIntervalSeconds, queue });
      });
      const target = { specReplicas: fleet.replicas(), statusReplicas: pods.length };
      return { target, pods, samples, ...ceilingAt(input, now), ...podStart };
    },
    scaleTo: (count, now) => {
      if (count !== fleet.replicas()) fleet.scaleTo(count, now);
      note(now);
    },
    queue,
  };
}

function ceilingAt({ ceiling }: WorkloadInput, now: Instant): Pick<Snapshot, 'maxReplicasFrom'> {
  if (ceiling === undefined) return {};
  const value = ceiling.at(now);
  return {
    maxReplicasFrom:
      value === null
        ? errorSample('missing', NO_DATA)
        : { form: 'values', at: now, values: [value], partial: null },
  };
}

function beginOf({ start, warmUpFrom = start }: WorkloadInput, models: readonly MetricModel[]): Instant {
  const known = models.reduce<Instant>((most, { load }) => latest(most, load.start), warmUpFrom);
  return earliest(known, start);
}

function queueOf(
  { queue, start, end, scrapeIntervalSeconds }: WorkloadInput,
  models: readonly MetricModel[],
): Queue | null {
  if (queue === undefined) return null;
  const longest = Math.max(
    0,
    ...models.map((model) => (model.kind === 'constant' ? 0 : model.windowSeconds)),
  );
  return createQueue(queue, { start, end, keptSeconds: longest + scrapeIntervalSeconds });
}

/**
 * Returns whether the load of a pod is recorded as a curve. If the load is already a mean, each sample is computed from
 * the load.
 */
function hasCurve(model: MetricModel): boolean {
  return model.kind === 'share' && model.loadIs === 'present';
}

/** Divides the load of a period among the ready pods, whose number is constant in the period. */
function carryLoad(
  { from, to, ready }: { readonly from: Instant; readonly to: Instant; readonly ready: number },
  given: {
    readonly models: readonly MetricModel[];
    readonly curves: readonly (ShareCurve | null)[];
    readonly queue: Queue | null;
    readonly input: WorkloadInput;
  },
): void {
  const { models, curves, queue, input } = given;
  const ofQueue: ShareCurve[] = [];
  models.forEach((model, index) => {
    const curve = curves[index] ?? null;
    if (model.kind !== 'share' || curve === null) return;
    if (queue !== null && model.load === input.queue?.load) {
      ofQueue.push(curve);
      return;
    }
    const most = model.saturation ?? Infinity;
    model.load.pieces(from, to, (_, pieceEnd, load) => {
      curve.add(pieceEnd, load === null ? null : ready === 0 ? 0 : Math.min(load / ready, most));
    });
  });
  queue?.advance({ from, to, ready }, (until, served) => {
    for (const curve of ofQueue) curve.add(until, served === null || ready === 0 ? served : served / ready);
  });
}

function noteCount(steps: CountStep[], count: number, at: Instant): void {
  if (steps.at(-1)?.count !== count) steps.push({ at, count });
}
