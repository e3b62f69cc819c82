import type { VNode } from 'preact';
import type { ServiceStatus } from '../../api/answers.js';
import { formatCount, formatLatency, UNKNOWN } from '../ui/formats.js';
import { Badge } from '../ui/icon.jsx';
import { Section } from '../ui/section.jsx';
import { Table } from '../ui/table.jsx';
import { Sentence, Time } from '../ui/time.jsx';

interface HealthPartProps {
  readonly status: ServiceStatus;
}

const COLUMNS = [
  { title: 'Name' },
  { title: 'State' },
  { title: 'Latency', isNumber: true },
  { title: 'Queries', isNumber: true },
  { title: 'Errors', isNumber: true },
  { title: 'No scale-down until' },
  { title: 'Last error' },
];

export function DataSources({ status: { dataSources } }: HealthPartProps): VNode {
  return (
    <Section title="Data sources" isWide aside={<span class="hint">Counts since the start</span>}>
      {dataSources.length === 0 ? (
        <p class="muted">No scaler uses a data source.</p>
      ) : (
        <Table
          caption="Data sources"
          columns={COLUMNS}
          rows={dataSources.map((source) => ({
            key: source.name,
            cells: [
              <bdi class="health-name">{source.name}</bdi>,
              <Reachability isReachable={source.isReachable} unknown="Not queried yet" />,
              formatLatency(source.latencySeconds),
              formatCount(source.queries),
              formatCount(source.errors),
              source.holdUntil === null ? UNKNOWN : <Time at={source.holdUntil} />,
              <LastError error={source.lastError} />,
            ],
          }))}
        />
      )}
    </Section>
  );
}

interface ReachabilityProps {
  readonly isReachable: boolean | null;
  /** The text that is shown if `isReachable` is null. */
  readonly unknown?: string;
}

export function Reachability({ isReachable, unknown = 'Unknown' }: ReachabilityProps): VNode {
  if (isReachable === null) return <Badge tone="quiet" icon="unknown" text={unknown} />;
  return isReachable ? (
    <Badge tone="good" icon="ok" text="Reachable" />
  ) : (
    <Badge tone="bad" icon="error" text="Failing" />
  );
}

interface LastErrorProps {
  readonly error: { readonly at: string; readonly message: string } | null;
}

export function LastError({ error }: LastErrorProps): VNode {
  if (error === null) return <span class="muted">{UNKNOWN}</span>;
  return (
    <span>
      <Sentence text={error.message} />{' '}
      <span class="muted">
        (<Time at={error.at} show="ago" />)
      </span>
    </span>
  );
}
