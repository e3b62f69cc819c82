import type { VNode } from 'preact';
import { formatCount } from '../../ui/formats.js';
import { Sentence, Time } from '../../ui/time.jsx';
import type { Waterfall, WaterfallRow } from '../model/decision-parts.js';

interface WaterfallViewProps {
  readonly waterfall: Waterfall;
}

/** Shows the steps from the largest proposal through each limit to the result. A line marks the current count. */
export function WaterfallView({ waterfall }: WaterfallViewProps): VNode {
  const { rows, current, top } = waterfall;
  return (
    <div class="waterfall">
      <ol>
        {rows.map((row, index) => (
          <li key={index} class={`waterfall-row ${row.kind} ${toneOf(row)}`}>
            <span class="waterfall-label">{row.label}</span>
            <Track row={row} current={current} top={top} />
            <span class="waterfall-number">
              {row.kind === 'total' ? (
                <b>{formatCount(row.to)}</b>
              ) : (
                <>
                  {formatCount(row.from)} → <b>{formatCount(row.to)}</b>
                </>
              )}
            </span>
            {row.reason === '' && row.until === null ? null : (
              <span class="waterfall-reason">
                <Sentence text={row.reason} />
                {row.until === null ? null : (
                  <>
                    {row.reason === '' ? '' : ', '}until <Time at={row.until} />
                  </>
                )}
              </span>
            )}
          </li>
        ))}
      </ol>
      <p class="hint">
        <span class="current-line" aria-hidden="true" /> current: {formatCount(current)}
      </p>
    </div>
  );
}

function toneOf({ kind, from, to }: WaterfallRow): string {
  if (kind === 'total') return '';
  return to > from ? 'raises' : 'lowers';
}

interface TrackProps {
  readonly row: WaterfallRow;
  readonly current: number;
  readonly top: number;
}

function Track({ row, current, top }: TrackProps): VNode {
  const percent = (value: number): string => `${(value / top) * 100}%`;
  const [low, high] = [Math.min(row.from, row.to), Math.max(row.from, row.to)];
  return (
    <svg class="waterfall-track" width="100%" height="20" aria-hidden="true">
      <rect class="bar" x={percent(low)} y="3" width={percent(high - low)} height="14" rx="2" />
      <line class="current-line" x1={percent(current)} x2={percent(current)} y1="0" y2="20" />
    </svg>
  );
}
