import type { VNode } from 'preact';
import type { ServiceStatus } from '../../api/answers.js';
import { formatCount } from '../ui/numbers.js';
import { Badge } from '../ui/badge.jsx';
import { Section } from '../ui/section.jsx';
import { Table } from '../ui/table.jsx';
import { Reachability } from './data-sources.jsx';

const COLUMNS = [{ title: 'Name' }, { title: 'State' }, { title: 'Scalers', isNumber: true }];

export function Replicas({ status: { leader, replicas } }: { readonly status: ServiceStatus }): VNode {
  const others = leader !== null && !replicas.some(({ identity }) => identity === leader);
  return (
    <Section title="Replicas of promscaler">
      {replicas.length === 0 ? null : (
        <Table
          caption="Replicas of promscaler"
          columns={COLUMNS}
          rows={replicas.map(({ identity, scalers, isReachable }) => ({
            key: identity,
            cells: [
              <bdi>{identity}</bdi>,
              identity === leader && isReachable ? (
                <Badge tone="good" icon="ok" text="Leader" />
              ) : (
                <Reachability isReachable={isReachable} />
              ),
              formatCount(scalers),
            ],
          }))}
        />
      )}
      {others ? (
        <p class="muted">
          The leader is <bdi>{leader}</bdi>.
        </p>
      ) : null}
      {leader === null && replicas.length < 2 ? <p class="muted">The leader is unknown.</p> : null}
    </Section>
  );
}
