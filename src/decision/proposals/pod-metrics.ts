import type { ContainerResourceMetric } from '../../scaler/spec.js';
import { addMilli, milliFromNumber } from '../../units/quantity.js';
import type { Milli } from '../../units/quantity.js';
import type { ContainersSample, PodsSample } from '../snapshot/snapshot.js';
import type { PodMetric, Proposal, ProposalContext } from './context.js';
import { noProposal } from './context.js';
import { ceilCount } from './count.js';
import { groupPods } from './group-pods.js';
import type { GroupedPods, ReadinessRule } from './group-pods.js';
import { isWithinTolerance } from './tolerance.js';
import { plainProposal } from './plain-proposal.js';
import { usageMeasure } from './usage-ratio.js';
import type { UsageMeasure } from './usage-ratio.js';

/**
 * Returns the proposal of a metric with a value per pod. Missing and unready pods are omitted first and then assumed to
 * oppose the change, so that missing data can only slow the change down. Source: replica_calculator.go,
 * GetResourceReplicas and calcPlainMetricReplicas (algorithm.md, points 12 and 15-19).
 */
export function proposeFromPods(
  metric: PodMetric,
  sample: ContainersSample | PodsSample,
  context: ProposalContext,
): Proposal {
  return plainProposal(metric, sample, context) ?? proposeFromAnyPods(metric, sample, context);
}

/** The rules in full, without the short way of `plain-proposal.ts`. */
export function proposeFromAnyPods(
  metric: PodMetric,
  sample: ContainersSample | PodsSample,
  context: ProposalContext,
): Proposal {
  if (context.pods.length === 0) return noProposal('the selector matches no pods');
  const measured = usageByPod(metric, sample);
  const grouped = groupPods(
    context.pods,
    (name) => measured.has(name),
    readinessRule(metric, sample, context),
  );
  const seen = { pods: grouped.groups, podReasons: grouped.reasons };
  const usage = withoutPods(measured, [...grouped.groups.ignored, ...grouped.groups.unready]);
  const measure = usageMeasure(metric, context.pods);
  if (usage.size === 0) return noProposal(withCause(measure, NO_SAMPLE), seen);
  if ('error' in measure) return noProposal(measure.error, seen);
  const first = measure.of(usage);
  if ('error' in first) return noProposal(first.error, seen);
  const result = replicasFor({ usage, ratio: first.ratio, grouped, measure, context });
  return { ...seen, current: first.current, error: null, ...result };
}

const NO_SAMPLE = 'no sample of any pod that counts (they may be unready)';

/** Missing requests come first, because a user must fix them, while samples appear as pods become ready. */
function withCause(measure: UsageMeasure | { readonly error: string }, message: string): string {
  return 'error' in measure ? `${measure.error}; ${message}` : message;
}

function readinessRule(
  metric: PodMetric,
  sample: ContainersSample | PodsSample,
  { now, spec }: ProposalContext,
): ReadinessRule | null {
  const isCpu = metric.type !== 'Pods' && metric.name === 'cpu';
  if (!isCpu && spec.podWarmupSeconds === 0) return null;
  return { ...spec, isCpu, now, sampledAt: sample.at, windowSeconds: sample.windowSeconds };
}

/** Returns the usage of each pod: the sum over the containers of its sample. Omits pods without a sample. */
function usageByPod(metric: PodMetric, sample: ContainersSample | PodsSample): ReadonlyMap<string, Milli> {
  const usage = new Map<string, Milli>();
  if (sample.form === 'pods') {
    for (const [pod, value] of sample.pods) usage.set(pod, milliFromNumber(value));
    return usage;
  }
  for (const [pod, containers] of sample.containers) {
    const values =
      metric.type === 'ContainerResource' ? oneContainer(containers, metric) : containers.values();
    let total: Milli | null = null;
    for (const value of values) total = addMilli(total ?? 0n, milliFromNumber(value));
    if (total !== null) usage.set(pod, total);
  }
  return usage;
}

function oneContainer(
  containers: ReadonlyMap<string, number>,
  metric: ContainerResourceMetric,
): readonly number[] {
  const value = containers.get(metric.container);
  return value === undefined ? [] : [value];
}

function withoutPods(usage: ReadonlyMap<string, Milli>, pods: readonly string[]): ReadonlyMap<string, Milli> {
  if (pods.length === 0) return usage;
  const kept = new Map(usage);
  for (const pod of pods) kept.delete(pod);
  return kept;
}

interface FirstPass {
  readonly usage: ReadonlyMap<string, Milli>;
  readonly ratio: number;
  readonly grouped: GroupedPods;
  readonly measure: UsageMeasure;
  readonly context: ProposalContext;
}

function replicasFor(pass: FirstPass): { readonly proposal: number; readonly ratio: number } {
  const { ratio, grouped, context } = pass;
  const { ready, unready, missing } = grouped.groups;
  const { specReplicas } = context.target;
  if (missing.length === 0 && (unready.length === 0 || ratio <= 1)) {
    const within = isWithinTolerance(ratio, context.tolerances);
    return { ratio, proposal: within ? specReplicas : ceilCount(ratio * ready.length) };
  }
  return secondPass(pass);
}

/** Computes the ratio again, assuming that the omitted pods oppose the change. */
function secondPass({ usage, ratio, grouped, measure, context }: FirstPass): {
  readonly proposal: number;
  readonly ratio: number;
} {
  const { specReplicas } = context.target;
  const filled = new Map(usage);
  for (const pod of grouped.groups.missing) {
    if (ratio < 1) filled.set(pod, measure.fullUsageOf(pod));
    else if (ratio > 1) filled.set(pod, 0n);
  }
  if (ratio > 1) for (const pod of grouped.groups.unready) filled.set(pod, 0n);
  const again = measure.of(filled);
  // Unreachable: the second pass only adds pods that have requests.
  if ('error' in again) return { ratio, proposal: specReplicas };
  const flipped = (ratio < 1 && again.ratio > 1) || (ratio > 1 && again.ratio < 1);
  if (flipped || isWithinTolerance(again.ratio, context.tolerances)) {
    return { ratio: again.ratio, proposal: specReplicas };
  }
  const count = ceilCount(again.ratio * filled.size);
  const turned = again.ratio < 1 ? count > specReplicas : count < specReplicas;
  return { ratio: again.ratio, proposal: turned ? specReplicas : count };
}
