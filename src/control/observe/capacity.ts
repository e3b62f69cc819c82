import type { Condition } from '../../decision/decision.js';
import type { ClusterPod, ScaleTarget } from '../../kubernetes/types.js';
import { secondsBetween } from '../../units/time.js';
import type { Instant } from '../../units/time.js';
import type { Shortfall } from '../memory/memory.js';

/** As long as the HPA takes a pod for one that starts (cpu-initialization-period). */
const STARTING_SECONDS = 300;

/** What the ready pods of a target are short of, by a look at it; null: nothing. */
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

/** One value for all of them: it is kept with each past decision. */
const REACHED: Condition = {
  type: 'TargetReached',
  status: 'True',
  reason: 'Reached',
  message: 'as many pods are ready as the target is set to',
};

/**
 * Whether the pods that the target is set to are there and ready, and what keeps the others. Of several reasons the one
 * that no waiting mends comes first: Unschedulable, RolloutStuck, RolloutPaused; then Starting for up to 300 s while no
 * container is refused, else NotReady. A paused rollout still scales, but pods of a new template never come.
 */
export function targetReached(
  target: Pick<ScaleTarget, 'specReplicas' | 'rollout'>,
  shortfall: Shortfall | null,
  { pods, now }: { readonly pods: readonly ClusterPod[]; readonly now: Instant },
): Condition {
  if (shortfall === null) return REACHED;
  const wanted = target.specReplicas;
  const waiting = pods.filter((pod) => isAlive(pod) && pod.ready !== true);
  const reason = whyShort(target, shortfall, { waiting, now });
  const detail = describe(waiting, wanted - countReady(pods));
  const rollout = ROLLOUT_WORDS[reason] ?? '';
  const message = `${wanted} wanted, ${countReady(pods)} ready: ${detail}${rollout}`;
  return { type: 'TargetReached', status: 'False', reason, message };
}

const ROLLOUT_WORDS: Readonly<Record<string, string>> = {
  RolloutStuck: '; the rollout has exceeded its progressDeadlineSeconds',
  RolloutPaused: '; spec.paused of the target is true',
};

function whyShort(
  { rollout }: Pick<ScaleTarget, 'rollout'>,
  { since }: Shortfall,
  { waiting, now }: { readonly waiting: readonly ClusterPod[]; readonly now: Instant },
): string {
  if (waiting.some(({ trouble }) => trouble?.kind === 'unschedulable')) return 'Unschedulable';
  if (rollout === 'stuck') return 'RolloutStuck';
  if (rollout === 'paused') return 'RolloutPaused';
  const isRefused = waiting.some(({ trouble }) => trouble?.kind === 'waiting');
  return !isRefused && secondsBetween(since, now) < STARTING_SECONDS ? 'Starting' : 'NotReady';
}

/** `6 unschedulable because of cpu, 1 in CrashLoopBackOff, 1 not created`. */
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

function countReady(pods: readonly ClusterPod[]): number {
  return pods.reduce((count, pod) => count + Number(isAlive(pod) && pod.ready === true), 0);
}

/** Pods that end, or have ended, are replaced by others. */
function isAlive({ deleting, phase }: ClusterPod): boolean {
  return !deleting && phase !== 'Succeeded' && phase !== 'Failed';
}
