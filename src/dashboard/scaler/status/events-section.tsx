import type { VNode } from 'preact';
import type { ScalerDetail } from '../../../api/answers.js';
import type { Api } from '../../data/api.js';
import { scalerEventsRequest } from '../../data/requests.js';
import { useAnswer } from '../../data/use-answer.js';
import { formatCount } from '../../ui/numbers.js';
import { Badge } from '../../ui/badge.jsx';
import { Section } from '../../ui/section.jsx';
import { Notice, Waiting } from '../../ui/states.jsx';
import { Table } from '../../ui/table.jsx';
import { Time } from '../../ui/time.jsx';
import { Sentence } from '../text/sentence.jsx';

interface EventsSectionProps {
  readonly api: Api;
  readonly detail: ScalerDetail;
}

const EVERY_MS = 60_000;

/** Shows the Kubernetes Events that promscaler wrote about this scaler. */
export function EventsSection({ api, detail }: EventsSectionProps): VNode {
  const { namespace, name } = detail;
  const { value, error, refresh } = useAnswer(api, scalerEventsRequest(namespace, name), {
    everyMs: EVERY_MS,
    isAffected: (event) => 'namespace' in event && event.namespace === namespace && event.name === name,
  });
  return (
    <Section title="Events">
      {value === null ? (
        <Waiting error={error} onRetry={refresh} />
      ) : (
        <>
          {error === null ? null : <Notice>{error.message}</Notice>}
          {value.items.length === 0 ? (
            <p class="hint">promscaler has written no Events since it started.</p>
          ) : (
            <Table
              caption="Events, newest first"
              columns={[
                { title: 'Last' },
                { title: 'Reason' },
                { title: 'Message' },
                { title: 'Count', isNumber: true },
              ]}
              rows={value.items.map(({ at, type, reason, message, count }, index) => ({
                key: `${index} ${at}`,
                cells: [
                  <Time at={at} show="ago" />,
                  <Badge
                    tone={type === 'Warning' ? 'warn' : 'quiet'}
                    icon={type === 'Warning' ? 'warning' : 'ok'}
                    text={reason}
                  />,
                  <Sentence text={message} />,
                  formatCount(count),
                ],
              }))}
            />
          )}
        </>
      )}
    </Section>
  );
}
