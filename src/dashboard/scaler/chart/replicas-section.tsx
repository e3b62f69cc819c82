import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { formatLocal } from '../../../units/short-time.js';
import type { ReadableCell } from '../../data/cell.js';
import { useCell } from '../../data/use-cell.js';
import { formatCount, formatMetric, plural, UNKNOWN } from '../../ui/formats.js';
import { LazyDetails, Section } from '../../ui/section.jsx';
import { Table } from '../../ui/table.jsx';
import { Time, useNow } from '../../ui/time.jsx';
import { type Mark, nextChange } from '../model/changes.js';
import { type ChartData, readerAt, replicasTop, type Values } from '../model/chart-data.js';
import { type Range, RANGES, type TimeWindow } from '../model/ranges.js';
import type { ChartLinks, SeriesStyle } from './chart-options.js';
import { LegendItem, TimeChart } from './time-chart.jsx';

interface ReplicasSectionProps {
  readonly data: ChartData;
  readonly links: ChartLinks;
  readonly hover: ReadableCell<number | null>;
  readonly range: Range;
  readonly isZoomed: boolean;
  /** Why a part of the time range is empty. */
  readonly note: VNode;
  readonly onRange: (range: Range) => void;
  readonly onSelect: (second: number | null) => void;
  /** Further charts with the same time axis. */
  readonly children: ComponentChildren;
}

const STYLES: readonly SeriesStyle[] = [
  { label: 'maximum', color: '--chart-6', width: 1, dash: [2, 3], isStepped: true },
  { label: 'minimum', color: '--chart-6', width: 1, dash: [2, 3], isStepped: true },
  { label: 'recommended', color: '--chart-2', width: 1.5, dash: [4, 3], isStepped: true },
  { label: 'desired', color: '--chart-3', width: 2, dash: [8, 3], isStepped: true },
  { label: 'ready', color: '--chart-4', width: 1.5, dash: [], isStepped: true },
  { label: 'current', color: '--chart-1', width: 2.5, dash: [], isStepped: true },
];

/** Shows a chart of the replicas, and the controls for all charts. */
export function ReplicasSection(props: ReplicasSectionProps): VNode {
  const { data, links, range, isZoomed, note, onRange, onSelect } = props;
  const columns = useMemo(
    () => [
      data.at,
      data.maxReplicas,
      data.minReplicas,
      data.recommendedReplicas,
      data.desiredReplicas,
      data.readyPods,
      data.currentReplicas,
    ],
    [data],
  );
  const top = useMemo(() => replicasTop(data), [data]);
  return (
    <Section
      title="Replicas"
      aside={
        <div class="chart-controls">
          <ChangeButtons changes={links.changes} selected={links.selected} onSelect={onSelect} />
          <div class="range-buttons" role="group" aria-label="Range of the charts">
            {RANGES.map((one) => (
              <button
                key={one.name}
                type="button"
                aria-pressed={one === range && !isZoomed}
                onClick={() => onRange(one)}
              >
                {one.name}
              </button>
            ))}
          </div>
        </div>
      }
    >
      <Readout data={data} hover={props.hover} selected={links.selected} />
      <Slider {...props}>
        {(data.maxReplicas.at(-1) ?? 0) > top ? (
          <span class="chart-note" aria-hidden="true">
            maximum {formatCount(data.maxReplicas.at(-1) ?? null)} ↑
          </span>
        ) : null}
        <TimeChart
          {...links}
          height={200}
          columns={columns}
          styles={STYLES}
          area="--chart-band"
          top={top}
          steps="counts"
          format={formatCount}
        />
      </Slider>
      {props.children}
      <p class="hint">
        {isZoomed ? (
          <>
            Zoomed in.{' '}
            <button type="button" class="link-button" onClick={() => onRange(range)}>
              Show all {range.name}
            </button>{' '}
          </>
        ) : null}
        Click a point in time to see its decision. Drag or pinch to zoom.{' '}
        <span class="keys-hint">The arrow keys move from change to change.</span> {note}
      </p>
      <LazyDetails class="chart-table" summary="Values as a table">
        <ChartRows data={data} window={links.window} />
      </LazyDetails>
    </Section>
  );
}

interface ReadoutProps {
  readonly data: ChartData;
  readonly hover: ReadableCell<number | null>;
  readonly selected: number | null;
}

/** Shows the legend with the values at the pointer, otherwise at the selected time, otherwise with the last values. */
function Readout({ data, hover, selected }: ReadoutProps): VNode {
  const second = useCell(hover) ?? selected;
  const read = readerAt(data, second);
  const value = (column: Values): string => formatCount(read(column));
  const [least, most] = [value(data.minReplicas), value(data.maxReplicas)];
  const at = second ?? data.at.at(-1) ?? null;
  const when = useNow((nowMs) => (at === null ? UNKNOWN : formatLocal(at * 1000, nowMs)));
  return (
    <div class="chart-legend" aria-hidden="true">
      <span class="chart-legend-time">{when}</span>
      <LegendItem style="chart-1" name="current" value={value(data.currentReplicas)} />
      <LegendItem style="chart-4" name="ready" value={value(data.readyPods)} />
      <LegendItem style="dashed chart-3" name="desired" value={value(data.desiredReplicas)} />
      <LegendItem style="dotted chart-2" name="recommended" value={value(data.recommendedReplicas)} />
      <LegendItem style="band" name="bounds" value={most === UNKNOWN ? UNKNOWN : `${least} to ${most}`} />
      <span class="chart-legend-marks">
        <span class="mark-up">▲</span> up <span class="mark-down">▼</span> down <span>△</span> not applied
      </span>
    </div>
  );
}

interface ChangeButtonsProps {
  readonly changes: readonly Mark[];
  readonly selected: number | null;
  readonly onSelect: (second: number | null) => void;
}

function ChangeButtons({ changes, selected, onSelect }: ChangeButtonsProps): VNode {
  const [before, after] = [nextChange(changes, selected, -1), nextChange(changes, selected, 1)];
  return (
    <div class="change-buttons" role="group" aria-label="Changes">
      <button type="button" disabled={before === null} onClick={() => onSelect(before?.second ?? null)}>
        ‹ Previous change
      </button>
      <button type="button" disabled={selected === null} onClick={() => onSelect(after?.second ?? null)}>
        {after === null ? 'Now' : 'Next change'} ›
      </button>
    </div>
  );
}

/** Makes the chart a slider over time for screen readers. The left and right arrow keys also work without the focus. */
function Slider({ data, links, onSelect, children }: ReplicasSectionProps): VNode {
  const { changes, selected, window } = links;
  const end = Math.min(window.to, links.now);
  const read = readerAt(data, selected);
  const value = (column: Values): string => formatCount(read(column));
  const when = useNow((nowMs) =>
    selected === null ? 'the last decision' : formatLocal(selected * 1000, nowMs),
  );
  const move = (event: KeyboardEvent): void => {
    const target = targetOf(event.key, changes, selected);
    if (target === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    onSelect(target);
  };
  const latest = useRef(move);
  latest.current = move;
  useEffect(() => {
    const follow = (event: KeyboardEvent): void => {
      const isFree =
        event.target instanceof Element && event.target.matches('body, h1, .link-button, .change-buttons *');
      if (isFree && /^Arrow(?:Left|Right)$/.test(event.key)) latest.current(event);
    };
    addEventListener('keydown', follow);
    return () => removeEventListener('keydown', follow);
  }, []);
  return (
    <div
      class="chart-slider"
      role="slider"
      tabIndex={0}
      aria-label="Moment"
      aria-valuemin={Math.round(window.from)}
      aria-valuemax={Math.round(end)}
      aria-valuenow={Math.round(selected ?? end)}
      aria-valuetext={`${when}: ${value(data.currentReplicas)} current, ${value(data.readyPods)} ready, ${value(data.desiredReplicas)} desired replicas`}
      onKeyDown={move}
    >
      {children}
    </div>
  );
}

/** Returns the time in Unix seconds that a key selects; null: the last decision; undefined: the key selects nothing. */
function targetOf(key: string, changes: readonly Mark[], selected: number | null): number | null | undefined {
  switch (key) {
    case 'ArrowLeft':
    case 'ArrowDown':
      return nextChange(changes, selected, -1)?.second;
    case 'ArrowRight':
    case 'ArrowUp':
      return selected === null ? undefined : (nextChange(changes, selected, 1)?.second ?? null);
    case 'Home':
      return changes[0]?.second;
    case 'End':
    case 'Escape':
      return null;
    default:
      return undefined;
  }
}

interface ChartRowsProps {
  readonly data: ChartData;
  readonly window: TimeWindow;
}

const MOST_ROWS = 200;

/** Shows the points of the charts, newest first. */
function ChartRows({ data, window }: ChartRowsProps): VNode {
  const inside = data.at.flatMap((second, index) =>
    second >= window.from && second <= window.to ? [index] : [],
  );
  const shown = inside.slice(-MOST_ROWS).reverse();
  const counts = [
    data.currentReplicas,
    data.desiredReplicas,
    data.recommendedReplicas,
    data.minReplicas,
    data.maxReplicas,
    data.readyPods,
  ];
  const titles = ['Current', 'Desired', 'Recommended', 'Minimum', 'Maximum', 'Ready'];
  return (
    <>
      {inside.length > shown.length ? (
        <p class="hint">
          The newest {shown.length} of {plural(inside.length, 'point')}: zoom in to see others.
        </p>
      ) : null}
      <div class="scroll-x" role="region" aria-label="Values of the charts" tabIndex={0}>
        <Table
          caption="Replicas and metrics over time, newest first"
          columns={[
            { title: 'Time' },
            ...titles.map((title) => ({ title, isNumber: true })),
            ...data.metrics.map(({ metric }) => ({ title: metric, isNumber: true })),
          ]}
          rows={shown.map((index) => ({
            key: String(data.at[index]),
            cells: [
              <Time at={new Date((data.at[index] ?? 0) * 1000).toISOString()} />,
              ...counts.map((column) => formatCount(column[index] ?? null)),
              ...data.metrics.map(({ metric, unit, value }) =>
                formatMetric(value[index] ?? null, { name: metric, unit }),
              ),
            ],
          }))}
        />
      </div>
    </>
  );
}
