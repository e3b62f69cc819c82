import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { ScalerDetail } from '../../../api/answers.js';
import type { Api } from '../../data/api.js';
import { scalerEventsRequest } from '../../data/requests.js';
import { useAnswer } from '../../data/use-answer.js';
import { Badge } from '../../ui/badge.jsx';
import { formatCount } from '../../ui/numbers.js';
import { Section } from '../../ui/section.jsx';
import { Notice } from '../../ui/states.jsx';
import { Table } from '../../ui/table.jsx';
import { Time } from '../../ui/time.jsx';
import type { Change } from '../model/changes.js';
import { buildTimeline } from '../model/timeline.js';
import { Sentence } from '../text/sentence.jsx';

export interface TimelineSectionProps {
  readonly api: Api;
  readonly detail: ScalerDetail;
  readonly changes: readonly Change[];
  readonly onSelect: (second: number) => void;
}

const EVERY_MS = 60_000;

/** Shows the changes of the replicas, and the Kubernetes Events that promscaler wrote about this scaler. */
export function TimelineSection({ api, detail, changes, onSelect }: TimelineSectionProps): VNode {
  const { namespace, name } = detail;
  const { value, error } = useAnswer(api, scalerEventsRequest(namespace, name), {
    everyMs: EVERY_MS,
    isAffected: (event) => 'namespace' in event && event.namespace === namespace && event.name === name,
  });
  const items = useMemo(() => buildTimeline(changes, value?.items ?? []), [changes, value]);
  return (
    <Section title="Changes and Events">
      {error === null ? null : <Notice>{error.message}</Notice>}
      {items.length === 0 ? (
        <p class="hint">No change is known, and promscaler has written no Events since it started.</p>
      ) : (
        <Table
          caption="Changes and Events, newest first"
          columns={[
            { title: 'Last' },
            { title: 'What' },
            { title: 'Message' },
            { title: 'Count', isNumber: true },
          ]}
          rows={items.map(({ firstAt, lastAt, count, title, text, isWarning, second }, index) => ({
            key: `${index} ${lastAt}`,
            cells: [
              <Time at={lastAt} show="ago" />,
              <Badge tone={isWarning ? 'warn' : 'quiet'} icon={isWarning ? 'warning' : 'ok'} text={title} />,
              <span>
                <Sentence text={text} />
                {firstAt === lastAt ? null : (
                  <span class="hint">
                    {' since '}
                    <Time at={firstAt} />
                  </span>
                )}
                {second === null ? null : (
                  <>
                    {' '}
                    <button type="button" class="link-button" onClick={() => onSelect(second)}>
                      Show the decision
                    </button>
                  </>
                )}
              </span>,
              count === 1 ? '' : formatCount(count),
            ],
          }))}
        />
      )}
    </Section>
  );
}
