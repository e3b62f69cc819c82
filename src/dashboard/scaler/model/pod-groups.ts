import type { MetricResult } from './answers.js';
import { groupBy } from '../../../units/maps.js';

const POD_GROUPS = ['ready', 'unready', 'missing', 'ignored'] as const;

export interface PodGroup {
  readonly name: (typeof POD_GROUPS)[number];
  readonly count: number;
  /** The pods by reason; the reason with the most pods is first. Ready pods have no reason. */
  readonly parts: readonly { readonly reason: string | null; readonly pods: readonly string[] }[];
}

/** Returns the groups that have pods. */
export function groupPods({ pods, podReasons }: MetricResult): readonly PodGroup[] {
  return POD_GROUPS.filter((name) => pods[name].length > 0).map((name) => ({
    name,
    count: pods[name].length,
    parts: name === 'ready' ? [{ reason: null, pods: pods[name] }] : byReason(pods[name], podReasons),
  }));
}

function byReason(names: readonly string[], reasons: MetricResult['podReasons']): PodGroup['parts'] {
  const reasonOf = (name: string): string =>
    (Object.hasOwn(reasons, name) ? reasons[name] : undefined) ?? 'reason not known';
  const groups = Array.from(groupBy(names, reasonOf), ([reason, pods]) => ({ reason, pods }));
  return groups.sort((a, b) => b.pods.length - a.pods.length);
}
