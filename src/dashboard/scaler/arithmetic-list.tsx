import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { SnapshotAnswer } from '../../api/answers.js';
import { decide } from '../../decision/decide.js';
import { explainMetric } from '../../decision/explain-metric.js';
import { proposeAll } from '../../decision/proposals/propose.js';
import { readSnapshot } from './model/answers.js';

interface ArithmeticListProps {
  readonly snapshot: SnapshotAnswer;
}

/** Shows each metric like `promscaler explain`: the answer of the query, and how the proposal is computed from it. */
export function ArithmeticList({ snapshot: json }: ArithmeticListProps): VNode {
  const metrics = useMemo(() => {
    const snapshot = readSnapshot(json);
    if (typeof snapshot === 'string') return snapshot;
    if (decide(snapshot).metrics.length === 0) return [];
    return proposeAll(snapshot).map((metric) => ({
      ...explainMetric(metric, snapshot),
      identity: metric.spec.identity,
    }));
  }, [json]);
  if (typeof metrics === 'string') return <p role="alert">{metrics}</p>;
  return (
    <dl class="arithmetic-list">
      {metrics.map(({ identity, answer, arithmetic }, index) => (
        <div key={index}>
          <dt dir="auto">{identity}</dt>
          {arithmetic === null ? null : (
            <dd class="mono" dir="auto">
              {arithmetic}
            </dd>
          )}
          <dd class="hint" dir="auto">
            {answer}
          </dd>
        </div>
      ))}
    </dl>
  );
}
