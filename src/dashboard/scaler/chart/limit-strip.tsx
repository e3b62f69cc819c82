import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { DecisionList, ScalerDetail } from '../../../api/answers.js';
import { LIMIT_LABELS } from '../../../decision/result/limit-names.js';
import type { Api } from '../../data/api.js';
import type { ReadableCell } from '../../data/cell.js';
import { isAbout } from '../../data/keep-fresh.js';
import { decisionsRequest } from '../../data/requests.js';
import { useAnswer } from '../../data/use-answer.js';
import { useCell } from '../../data/use-cell.js';
import { UNKNOWN } from '../../ui/formats.js';
import { SEVERITY_STYLES } from '../../ui/severities.js';
import { Time } from '../../ui/time.jsx';
import { type LimitSpan, limitSpans } from '../model/timeline.js';
import type { ChartLinks } from './chart-options.js';
import './limit-strip.css';

export interface LimitStripProps {
  readonly api: Api;
  readonly detail: ScalerDetail;
  readonly links: ChartLinks;
  readonly hover: ReadableCell<number | null>;
}

/** Shows which limit has determined the replicas, below the charts and with the same time axis. */
export function LimitStrip({ api, detail: { namespace, name }, links, hover }: LimitStripProps): VNode {
  const { window, now, selected, onPick } = links;
  const { value } = useAnswer(api, decisionsRequest(namespace, name, { limit: 100 }), {
    everyMs: 60_000,
    isAffected: isAbout({ namespace, name }),
  });
  const spans = useMemo(() => limitSpans(value?.items ?? [], now), [value, now]);
  const pointed = useCell(hover) ?? selected;
  const place = (second: number): number =>
    Math.min(100, Math.max(0, (100 * (second - window.from)) / (window.to - window.from)));
  const between = (from: number, to: number): Readonly<Record<'left' | 'width', string>> => ({
    left: `${place(from)}%`,
    width: `${place(to) - place(from)}%`,
  });
  return (
    <figure class="limit-strip">
      <figcaption>
        <b>Limit in effect</b>{' '}
        <span class="hint">
          {value === null ? UNKNOWN : <Shown list={value} spans={spans} now={now} pointed={pointed} />}
        </span>
      </figcaption>
      <div
        class="limit-track"
        role="presentation"
        onClick={({ offsetX, currentTarget }) =>
          onPick(window.from + (offsetX / currentTarget.clientWidth) * (window.to - window.from))
        }
      >
        <span class="limit-unknown" style={between(window.from, now)} />
        {value === null ? null : (
          <span class="limit-unknown" style={between(window.from, Date.parse(oldestOf(value)) / 1000)}>
            unknown (decisions are kept from <Time at={value.keptFrom} /> on)
          </span>
        )}
        {spans.map(({ from, to, limit, severity }) => (
          <span
            key={from}
            class={limit === null ? 'limit-none' : `tone-${SEVERITY_STYLES[severity].tone}`}
            style={between(from, to)}
          >
            {limit === null ? null : LIMIT_LABELS[limit]}
          </span>
        ))}
        {pointed === null ? null : <i style={{ left: `${place(pointed)}%` }} />}
      </div>
    </figure>
  );
}

/** Returns the time of the oldest decision of a list, which may be cut. */
function oldestOf({ items, keptFrom }: DecisionList): string {
  return items.at(-1)?.firstAt ?? keptFrom;
}

interface ShownProps extends Pick<ChartLinks, 'now'> {
  readonly list: DecisionList;
  readonly spans: readonly LimitSpan[];
  /** Unix time in seconds; null: the last decision. */
  readonly pointed: number | null;
}

/** Names the limit at the pointer or, if the pointer is elsewhere, the limit of the selected or last decision. */
function Shown({ list, spans, now, pointed }: ShownProps): VNode {
  if (pointed !== null && pointed > now) return <>not decided yet</>;
  const second = pointed ?? Infinity;
  const last = list.items[0]?.decision === null ? undefined : spans.at(-1);
  const span = pointed === null ? last : spans.findLast(({ from, to }) => from <= second && second <= to);
  if (span !== undefined) return <>{span.limit === null ? 'none' : LIMIT_LABELS[span.limit]}</>;
  return second < Date.parse(oldestOf(list)) / 1000 ? (
    <>
      unknown: decisions are kept from <Time at={list.keptFrom} /> on
    </>
  ) : (
    <>unknown: there was no decision</>
  );
}
