import type { ComponentChildren, VNode } from 'preact';
import type { ServiceStatus } from '../../api/answers.js';
import { formatCount, formatLatency } from '../ui/numbers.js';
import { formatDuration } from '../ui/times.js';
import { Section } from '../ui/section.jsx';
import { Time } from '../ui/time.jsx';
import { LastError, Reachability } from './data-sources.jsx';

interface HealthPartProps {
  readonly status: ServiceStatus;
}

export function Rounds({ status: { rounds } }: HealthPartProps): VNode {
  const { last, periodSeconds, missed } = rounds;
  return (
    <Section title="Rounds">
      {last === null ? <p class="muted">This replica has made no decision yet.</p> : null}
      <Facts
        facts={[
          ...(last === null
            ? []
            : [
                { name: 'Last round', value: <Time at={last.at} show="ago" /> },
                { name: 'Duration', value: formatLatency(last.seconds) },
                { name: 'Lateness', value: formatLatency(last.latenessSeconds) },
                { name: 'Scalers', value: formatCount(last.scalers) },
              ]),
          { name: 'Sync period', value: formatDuration(periodSeconds) },
          { name: 'Missed rounds', value: formatCount(missed) },
        ]}
      />
    </Section>
  );
}

export function Kubernetes({ status: { kubernetes } }: HealthPartProps): VNode {
  const { isReachable, requests, errors, lastError } = kubernetes;
  return (
    <Section title="API server">
      <Facts
        facts={[
          { name: 'State', value: <Reachability isReachable={isReachable} /> },
          { name: 'Requests', value: formatCount(requests) },
          { name: 'Errors', value: formatCount(errors) },
          { name: 'Last error', value: <LastError error={lastError} /> },
        ]}
      />
    </Section>
  );
}

interface Fact {
  readonly name: string;
  readonly value: ComponentChildren;
}

function Facts({ facts }: { readonly facts: readonly Fact[] }): VNode {
  return (
    <dl class="health-facts">
      {facts.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
