import { buildCondition, type Condition, type ReasonOf } from '../../decision/result/condition.js';
import { countReady, isAlive } from '../../decision/snapshot/snapshot.js';
import type { ClusterPod, ScaleTarget } from '../../kubernetes/api/types.js';
import { type Instant, secondsBetween } from '../../units/time.js';
import type { Shortfall } from '../memory/memory.js';
import { countOf } from '../../units/format.js';
import { rememberByText } from '../../units/recent-map.js';

/** How long missing pods are reported as starting. It is the HPA's default of cpu-initialization-period. */
export const STARTING_SECONDS = 300;

export function shortfallOf(
  before: Shortfall | null,
  target: Pick<ScaleTarget, 'specReplicas'>,
  { pods, now }: { readonly pods: readonly ClusterPod[]; readonly now: Instant },
): Shortfall | null {
  const wanted = target.specReplicas;
  if (countReady(pods) >= wanted) return null;
  if (before === null || wanted > before.wanted) return { since: now, wanted };
  return before.wanted === wanted ? before : { since: before.since, wanted };
}

/** Returns one object for each count, to save memory: each past decision keeps its conditions. */
const reached = rememberByText((count) =>
  buildCondition('TargetReached', 'Reached', `all pods of spec.replicas (${count}) are ready`),
);

/**
 * Returns the condition `TargetReached`: whether all pods of `spec.replicas` are ready, and why not. Reasons that do
 * not end by waiting come first: Unschedulable, RolloutStuck, RolloutPaused. The next one is Starting, for up to 300 s
 * while no container waits with an error, and the last one is NotReady. A target with a paused rollout still scales,
 * but creates no pods of a new template.
 */
export function targetReached(
  target: Pick<ScaleTarget, 'specReplicas' | 'rollout'>,
  shortfall: Shortfall | null,
  { pods, now }: { readonly pods: readonly ClusterPod[]; readonly now: Instant },
): Condition {
  const wanted = target.specReplicas;
  if (shortfall === null) return reached(String(wanted));
  const waiting = pods.filter((pod) => isAlive(pod) && pod.ready !== true);
  const reason = whyShort(target, shortfall, { waiting, now });
  const detail = describe(waiting, wanted - countReady(pods));
  const rollout = ROLLOUT_WORDS[reason] ?? '';
  return buildCondition(
    'TargetReached',
    reason,
    `${countReady(pods)} of ${countOf(wanted, 'pod')} ${wanted === 1 ? 'is' : 'are'} ready: ${detail}${rollout}`,
  );
}

const ROLLOUT_WORDS: Readonly<Partial<Record<ReasonOf<'TargetReached'>, string>>> = {
  RolloutStuck: '; the rollout has exceeded its progressDeadlineSeconds',
  RolloutPaused: '; spec.paused of the target is true',
};

function whyShort(
  { rollout }: Pick<ScaleTarget, 'rollout'>,
  { since }: Shortfall,
  { waiting, now }: { readonly waiting: readonly ClusterPod[]; readonly now: Instant },
): ReasonOf<'TargetReached'> {
  if (waiting.some(({ trouble }) => trouble?.kind === 'unschedulable')) return 'Unschedulable';
  if (rollout === 'stuck') return 'RolloutStuck';
  if (rollout === 'paused') return 'RolloutPaused';
  const hasWaitingContainer = waiting.some(({ trouble }) => trouble?.kind === 'waiting');
  return !hasWaitingContainer && secondsBetween(since, now) < STARTING_SECONDS ? 'Starting' : 'NotReady';
}

/** Returns why pods are missing: `6 unschedulable because of cpu, 1 in CrashLoopBackOff, 1 not created`. */
function describe(waiting: readonly ClusterPod[], missing: number): string {
  const groups = new Map<string, number>();
  for (const { trouble } of waiting) {
    const group = trouble === undefined ? 'not ready' : TROUBLE_WORDS[trouble.kind] + trouble.why;
    groups.set(group, (groups.get(group) ?? 0) + 1);
  }
  if (missing > waiting.length) groups.set('not created', missing - waiting.length);
  return [...groups].map(([group, count]) => `${count} ${group}`).join(', ');
}

const TROUBLE_WORDS = { unschedulable: 'unschedulable because of ', waiting: 'in ' } as const;
