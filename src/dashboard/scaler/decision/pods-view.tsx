import type { VNode } from 'preact';
import { formatCount } from '../../ui/numbers.js';
import type { MetricResult } from '../model/answers.js';
import { groupPods } from '../model/pod-groups.js';
import type { PodGroup } from '../model/pod-groups.js';

const MEANINGS: Readonly<Record<PodGroup['name'], string>> = {
  ready: 'their values count',
  unready: 'counted as idle for a scale-up',
  missing: 'without a value',
  ignored: 'not counted',
};

/** Shows the pods of a decision by group and reason. Metrics with the same groups are shown together. */
export function PodsView({ metrics }: { readonly metrics: readonly MetricResult[] }): VNode | null {
  const parts = partsOf(metrics);
  if (parts.length === 0) return null;
  return (
    <div class="pods">
      <h3>Pods</h3>
      {parts.map(({ names, groups }) => (
        <div key={names.join(' ')} class="pods-part">
          {parts.length === 1 ? null : (
            <p class="hint" dir="auto">
              for {names.join(', ')}
            </p>
          )}
          <GroupBar groups={groups} />
          {groups.map((group) => (
            <Group key={group.name} group={group} />
          ))}
        </div>
      ))}
    </div>
  );
}

function partsOf(
  metrics: readonly MetricResult[],
): readonly { readonly names: readonly string[]; readonly groups: readonly PodGroup[] }[] {
  const parts = new Map<string, { names: string[]; groups: readonly PodGroup[] }>();
  for (const metric of metrics) {
    const groups = groupPods(metric);
    if (groups.length === 0) continue;
    const key = JSON.stringify(groups);
    const part = parts.get(key);
    if (part === undefined) parts.set(key, { names: [metric.name], groups });
    else part.names.push(metric.name);
  }
  return [...parts.values()];
}

/** Shows the share of each group as a bar. The text below it contains the numbers. */
function GroupBar({ groups }: { readonly groups: readonly PodGroup[] }): VNode {
  const total = groups.reduce((sum, { count }) => sum + count, 0);
  let start = 0;
  const bars = groups.map(({ name, count }) => {
    const x = (start / total) * 100;
    start += count;
    return (
      <rect key={name} class={`pods-${name}`} x={`${x}%`} width={`${(count / total) * 100}%`} height="8" />
    );
  });
  return (
    <svg class="pods-bar" width="100%" height="8" aria-hidden="true" focusable="false">
      {bars}
    </svg>
  );
}

function Group({ group: { name, count, parts } }: { readonly group: PodGroup }): VNode {
  return (
    <details class="pods-group">
      <summary>
        <span class={`swatch pods-${name}`} /> <b>{formatCount(count)}</b> {name}{' '}
        <span class="hint" dir="auto">
          {name === 'ready' ? MEANINGS.ready : parts.map(partText).join('; ')}
        </span>
      </summary>
      {parts.map(({ reason, pods }) => (
        <div key={reason ?? ''}>
          {reason === null ? null : (
            <p dir="auto">
              {reason} ({formatCount(pods.length)})
            </p>
          )}
          <ul class="pod-names">
            {pods.map((pod) => (
              <li key={pod} dir="auto">
                {pod}
              </li>
            ))}
          </ul>
        </div>
      ))}
    </details>
  );
}

function partText({ reason, pods }: PodGroup['parts'][number]): string {
  return `${formatCount(pods.length)} ${reason ?? ''}`;
}
