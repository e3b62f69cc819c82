import type { VNode } from 'preact';
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import type { ScalerDetail } from '../../api/answers.js';
import type { Api } from '../data/api.js';
import { isAbout } from '../data/keep-fresh.js';
import { scalerEventsRequest } from '../data/requests.js';
import { useAnswer } from '../data/use-answer.js';
import { formatCount } from '../ui/formats.js';
import { Badge, Icon } from '../ui/icon.jsx';
import { FoldSection } from '../ui/section.jsx';
import { Notice } from '../ui/states.jsx';
import { Table } from '../ui/table.jsx';
import { Sentence, Time } from '../ui/time.jsx';
import type { Change } from './model/changes.js';
import { buildTimeline, MOST_ITEMS, type TimelineItem } from './model/timeline.js';

interface TimelineSectionProps {
  readonly api: Api;
  readonly detail: ScalerDetail;
  readonly changes: readonly Change[];
  /** Time of the oldest decision in RFC 3339; null: it is not known yet. */
  readonly keptFrom: string | null;
  /** The selected time in Unix seconds; null: the last decision. */
  readonly selected: number | null;
  readonly onSelect: (second: number) => void;
}

const EVERY_MS = 60_000;

/** Shows the changes of the replicas, and the Kubernetes Events that promscaler wrote about this scaler. */
export function TimelineSection({ api, detail, changes, keptFrom, ...moment }: TimelineSectionProps): VNode {
  const { namespace, name } = detail;
  const { value, error } = useAnswer(api, scalerEventsRequest(namespace, name), {
    everyMs: EVERY_MS,
    isAffected: isAbout(detail),
  });
  const select = useVisible(moment);
  const items = useMemo(() => buildTimeline(changes, value?.items ?? [], detail), [changes, value, detail]);
  return (
    <FoldSection title="Changes and Events">
      {error === null ? null : (
        <Notice>
          <Sentence text={error.message} />
        </Notice>
      )}
      {items.length === 0 ? (
        <p class="hint">No change is known, and promscaler has written no Events since it started.</p>
      ) : (
        <Table
          caption="Changes and Events, newest first"
          columns={[{ title: 'When' }, { title: 'Change or Event' }, { title: 'Why' }]}
          rows={items.map((item, index) => ({
            key: `${index} ${item.lastAt}`,
            cells: [
              <Time at={item.lastAt} show="ago" />,
              <Subject item={item} onSelect={select} />,
              <span>
                <Sentence text={item.text} />
                {item.count === 1 ? null : (
                  <span class="hint">
                    {` ${formatCount(item.count)} times since `}
                    <Time at={item.firstAt} />
                  </span>
                )}
              </span>,
            ],
          }))}
        />
      )}
      {keptFrom === null ? null : (
        <p class="hint">
          {items.length < MOST_ITEMS ? '' : `The list has the newest ${MOST_ITEMS}. `}Decisions are kept from{' '}
          <Time at={keptFrom} /> on.
        </p>
      )}
    </FoldSection>
  );
}

/** Returns a function that selects a time and, once its decision is in the page, scrolls to the decision. */
function useVisible({
  selected,
  onSelect,
}: Pick<TimelineSectionProps, 'selected' | 'onSelect'>): TimelineSectionProps['onSelect'] {
  const [asked, setAsked] = useState<{ readonly second: number } | null>(null);
  useEffect(() => {
    // `selected` comes from the address, which is rounded to milliseconds.
    if (asked === null || selected === null || Math.abs(selected - asked.second) > 0.01) return;
    setAsked(null);
    const charts = document.querySelector<HTMLElement>('.scaler-charts');
    const [first, decision] = charts?.children ?? [];
    if (charts === null || !(first instanceof HTMLElement) || !(decision instanceof HTMLElement)) return;
    const isBeside = decision.offsetLeft > first.offsetLeft;
    (isBeside ? charts : decision).scrollIntoView();
    decision.tabIndex = -1;
    decision.focus({ preventScroll: true });
  }, [asked, selected]);
  return useCallback(
    (second: number) => {
      setAsked({ second });
      onSelect(second);
    },
    [onSelect],
  );
}

interface SubjectProps extends Pick<TimelineSectionProps, 'onSelect'> {
  readonly item: TimelineItem;
}

function Subject({ item: { title, isWarning, icon, second }, onSelect }: SubjectProps): VNode {
  if (second === null) return <Badge tone={isWarning ? 'warn' : 'quiet'} icon={icon} text={title} />;
  return (
    <span class={isWarning ? 'tone-warn' : `mark-${icon}`}>
      <Icon name={icon} />
      <button type="button" class="link-button" title="Show the decision" onClick={() => onSelect(second)}>
        {title}
      </button>
    </span>
  );
}
