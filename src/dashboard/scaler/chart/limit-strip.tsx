import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { ScalerDetail } from '../../../api/answers.js';
import { LIMIT_LABELS } from '../../../decision/result/limit-names.js';
import type { Api } from '../../data/api.js';
import type { ReadableCell } from '../../data/cell.js';
import { useCell } from '../../data/use-cell.js';
import { decisionsRequest } from '../../data/requests.js';
import { isAbout } from '../../data/keep-fresh.js';
import { SEVERITY_STYLES } from '../../ui/severities.js';
import { useAnswer } from '../../data/use-answer.js';
import { limitSpans } from '../model/limit-spans.js';
import type { ChartLinks } from './chart-props.js';
import './limit-strip.css';

export interface LimitStripProps {
  readonly api: Api;
  readonly detail: ScalerDetail;
  readonly links: ChartLinks;
  readonly hover: ReadableCell<number | null>;
}

/** Shows which limit has determined the replicas, below the charts and with the same time axis. */
export function LimitStrip({ api, detail: { namespace, name }, links, hover }: LimitStripProps): VNode {
  const { window, now: present, selected, onPick } = links;
  const { value } = useAnswer(api, decisionsRequest(namespace, name, { limit: 100 }), {
    everyMs: 60_000,
    isAffected: isAbout({ namespace, name }),
  });
  const spans = useMemo(() => limitSpans(value?.items ?? [], present), [value, present]);
  const pointed = useCell(hover) ?? selected;
  const shown = Math.min(pointed ?? window.to - 1, present - 1);
  const now = spans.find(({ from, to }) => from <= shown && shown < to);
  const place = (second: number): number =>
    Math.min(100, Math.max(0, (100 * (second - window.from)) / (window.to - window.from)));
  return (
    <figure class="limit-strip">
      <figcaption>
        <b>Limit in force</b> <span class="hint">{now === undefined ? 'none' : LIMIT_LABELS[now.limit]}</span>
      </figcaption>
      <div
        class="limit-track"
        role="presentation"
        onClick={({ offsetX, currentTarget }) =>
          onPick(window.from + (offsetX / currentTarget.clientWidth) * (window.to - window.from))
        }
      >
        {spans.map(({ from, to, limit, severity }) =>
          to <= window.from ? null : (
            <span
              key={from}
              class={`tone-${SEVERITY_STYLES[severity].tone}`}
              title={LIMIT_LABELS[limit]}
              style={{ left: `${place(from)}%`, width: `${place(to) - place(from)}%` }}
            >
              <b>{LIMIT_LABELS[limit]}</b>
            </span>
          ),
        )}
        {pointed === null ? null : <i style={{ left: `${place(pointed)}%` }} />}
      </div>
    </figure>
  );
}
