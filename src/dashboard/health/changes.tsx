import type { VNode } from 'preact';
import type { ServiceStatus } from '../../api/answers.js';
import { formatCount } from '../ui/numbers.js';
import { Icon } from '../ui/icon.jsx';
import { scalerLink } from '../ui/links.js';
import { Section } from '../ui/section.jsx';
import { Table } from '../ui/table.jsx';
import { Time } from '../ui/time.jsx';

interface ChangesProps {
  readonly status: ServiceStatus;
}

const COLUMNS = [{ title: 'Time' }, { title: 'Scaler' }, { title: 'Replicas' }];

export function Changes({ status: { lastOutcomes } }: ChangesProps): VNode {
  return (
    <Section title="Last changes" isWide>
      {lastOutcomes.length === 0 ? (
        <p class="muted">No replica count has changed since promscaler started.</p>
      ) : (
        <Table
          caption="Last changes"
          columns={COLUMNS}
          rows={lastOutcomes.map(({ namespace, name, at, outcome: { kind, from, to, message } }, index) => ({
            key: `${at} ${namespace}/${name} ${index}`,
            cells: [
              <Time at={at} />,
              <a href={scalerLink(namespace, name)}>
                <bdi>
                  {namespace}/{name}
                </bdi>
              </a>,
              <span>
                {formatCount(from)} <Icon name="right" />
                <span class="visually-hidden">to</span> {formatCount(to)}{' '}
                {kind === 'patched' ? null : <bdi class="muted">{message}</bdi>}
              </span>,
            ],
          }))}
        />
      )}
    </Section>
  );
}
