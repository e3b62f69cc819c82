import type { VNode } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ScalerDetail, SnapshotAnswer } from '../../../api/answers.js';
import type { Figures } from '../../../backtest/compare/figures.js';
import { patchCommand } from '../../../decision/snippet.js';
import { changeText, fieldChanges, mergePatch } from '../../../scaler/field-changes.js';
import { isPlainObject, type PlainObject } from '../../../scaler/plain-json.js';
import { formatInstant, secondsBetween } from '../../../units/time.js';
import { apiErrorOf } from '../../data/api-error.js';
import type { Api } from '../../data/api.js';
import { createCell, type ReadableCell } from '../../data/cell.js';
import { useCell } from '../../data/use-cell.js';
import { CommandText, copyText } from '../../ui/command-text.jsx';
import { formatCount, plural, UNKNOWN } from '../../ui/formats.js';
import { usePart } from '../../ui/hooks.js';
import { Icon } from '../../ui/icon.jsx';
import { announce } from '../../ui/page.jsx';
import { Table } from '../../ui/table.jsx';
import { Sentence, Time } from '../../ui/time.jsx';
import { type ChartLinks, NO_CHANGES, type SeriesStyle } from '../chart/chart-options.js';
import { LegendItem, TimeChart } from '../chart/time-chart.jsx';
import type { TimeWindow } from '../model/ranges.js';
import { MOST_DECISIONS, type PastPoints, type PastRuns, readPastPoints, runPast } from './past-runs.js';
import { chartColumns, describeDifference, describeDrift, hoursText, percentText } from './past-texts.js';

interface PastSectionProps {
  readonly api: Api;
  readonly detail: ScalerDetail;
  /** The part of the charts that is zoomed in; null: the last `seconds`. */
  readonly zoom: TimeWindow | null;
  readonly seconds: number;
  /** The changed document. */
  readonly document: PlainObject;
  readonly snapshot: SnapshotAnswer;
}

type Reading = PastPoints | 'closed' | 'loading' | { readonly error: string };
/** A number is the finished share of the decisions, from 0 to 1. */
type Running = PastRuns | string | number;

/** Shows how the user applies the change, and its effect on the shown history. */
export function EffectSections(props: PastSectionProps): VNode {
  const { detail, document, snapshot } = props;
  return (
    <>
      <Apply detail={detail} before={snapshot.scaler} after={document} />
      <PastSection {...props} />
    </>
  );
}

/** Runs the document with and without the change over the shown time range, in the browser. */
function PastSection({ api, detail, document, snapshot, zoom, seconds }: PastSectionProps): VNode {
  const { namespace, name } = detail;
  const [isWanted, setIsWanted] = useState(false);
  const [reading, setReading] = useState<Reading>('closed');
  const [running, setRunning] = useState<Running>(0);
  const range = useMemo(
    () => zoom ?? { from: api.clock.now() / 1000 - seconds, to: Infinity },
    [api, zoom, seconds],
  );

  useEffect(() => {
    if (!isWanted) return undefined;
    const controller = new AbortController();
    const { signal } = controller;
    setReading('loading');
    readPastPoints(api, { namespace, name }, range, signal).then(setReading, (error: unknown) => {
      if (!signal.aborted) setReading({ error: apiErrorOf(error).message });
    });
    return () => controller.abort();
  }, [isWanted, api, namespace, name, range]);

  const points = typeof reading === 'object' && 'points' in reading ? reading : null;
  useEffect(() => {
    if (points === null) return undefined;
    const controller = new AbortController();
    const { signal } = controller;
    const { clock } = api;
    const onProgress = (done: number, all: number): void => setRunning(done / all);
    setRunning(0);
    void runPast({ points, snapshot, document, shown: range }, { clock, signal, onProgress }).then((runs) => {
      if (!signal.aborted) setRunning(runs);
    });
    return () => controller.abort();
  }, [api, points, snapshot, document, range]);

  return (
    <div class="what-if-past">
      <h3>Effect on the shown history</h3>
      {points === null ? (
        <button type="button" disabled={reading === 'loading'} onClick={() => setIsWanted(true)}>
          Repeat the shown history with the change
        </button>
      ) : (
        <Outcome running={running} note={points.note} />
      )}
      {typeof reading === 'object' && 'error' in reading ? (
        <p role="alert">
          <Sentence text={reading.error} />
        </p>
      ) : null}
    </div>
  );
}

function Outcome({ running, note }: { readonly running: Running; readonly note: string | null }): VNode {
  if (typeof running === 'number') return <p class="hint">Deciding, {Math.round(100 * running)} % …</p>;
  const failure = typeof running === 'string' ? running : (running.changed.error ?? running.applied.error);
  if (failure !== null)
    return (
      <p>
        Not possible here: {failure}. <code>promscaler backtest</code> can read more from Prometheus.
      </p>
    );
  return typeof running === 'string' ? <></> : <Comparison runs={running} note={note} />;
}

function Comparison({ runs, note }: { readonly runs: PastRuns; readonly note: string | null }): VNode {
  const { applied, changed, ran, start, end, need } = runs;
  if (applied.figures === null || changed.figures === null) return <></>;
  const drift = ran?.figures == null ? null : describeDrift(applied.figures, ran.figures);
  return (
    <>
      <p aria-live="polite">
        <b>{describeDifference(applied.figures, changed.figures, { need })}</b>
      </p>
      <RunsChart runs={runs} />
      <FiguresTable runs={runs} />
      {drift === null ? null : <p class={drift.isFar ? undefined : 'hint'}>{drift.text}</p>}
      <p class="hint">
        {plural(Math.floor(secondsBetween(start, end) / runs.periodSeconds), 'decision')} from{' '}
        <Time at={formatInstant(start)} /> to <Time at={formatInstant(end)} />
        {runs.isCut ? `, the newest ${formatCount(MOST_DECISIONS)} of the range` : ''}. Each decision starts
        from the replicas of the previous one; the first starts from the recorded replicas. The load is the
        load of the charts, and is divided among the ready pods as in <code>promscaler backtest</code>. A new
        pod is ready after {runs.podStartSeconds} s. {needText(runs)}
        {runs.unknownPercent < 1
          ? ''
          : `For ${percentText(runs.unknownPercent)} of the time the load is unknown, or from partial data: the replicas stay, and the figures do not include this time. `}
        {runs.notes.join(' ')} {note === null ? '' : `There are no older points: ${note}`}
      </p>
    </>
  );
}

/** Returns a sentence that says how the needed pods are computed. */
function needText({ need, loadMetric }: PastRuns): string {
  if (need === null) return 'The load that one pod carries is unknown, and so are the missing pods. ';
  const perPod = Number(need.perPod.toPrecision(3));
  return need.by === 'capacity'
    ? `The needed pods are those for ${loadMetric}, of which one pod carries ${perPod}. `
    : `The charts do not show how much one pod carries, so the needed pods are those that keep ${loadMetric} at the target of the document without the change, with its tolerance: at most ${perPod} per pod. `;
}

const STYLES: readonly SeriesStyle[] = [
  { label: 'with the change', color: '--chart-3', width: 2.5, dash: [], isStepped: true },
  { label: 'without the change', color: '--chart-1', width: 2, dash: [8, 3], isStepped: true },
  { label: 'recorded', color: '--chart-6', width: 1.5, dash: [2, 3], isStepped: true },
];

function RunsChart({ runs: { applied, changed, ran, start, end } }: { readonly runs: PastRuns }): VNode {
  const hover = useMemo(() => createCell<number | null>(null), []);
  const columns = useMemo(
    () =>
      chartColumns(
        [changed, applied, ran].map((result) => result?.run?.replicas ?? []),
        end,
      ),
    [applied, changed, ran, end],
  );
  const links: ChartLinks = {
    window: { from: start / 1000, to: end / 1000 },
    now: end / 1000,
    changes: NO_CHANGES,
    selected: null,
    onZoom: () => undefined,
    onPick: () => undefined,
    onHover: hover.set,
  };
  return (
    <figure class="metric-strip">
      <figcaption>
        <Readout columns={columns} hover={hover} />
      </figcaption>
      <div role="img" aria-label="Replicas with the change, without the change, and recorded">
        <TimeChart
          {...links}
          height={160}
          columns={columns}
          styles={STYLES}
          area="--chart-band"
          top={null}
          format={formatCount}
          steps="counts"
        />
      </div>
    </figure>
  );
}

interface ReadoutProps {
  readonly columns: ReturnType<typeof chartColumns>;
  readonly hover: ReadableCell<number | null>;
}

function Readout({ columns, hover }: ReadoutProps): VNode {
  const [at = [], ...counts] = columns;
  const second = useCell(hover) ?? Infinity;
  const index = at.findLastIndex((one) => (one ?? 0) <= second);
  const value = (list: number): string => formatCount(counts[list]?.[index] ?? null);
  return (
    <span class="chart-legend" aria-hidden="true">
      <LegendItem style="chart-3" name="with the change" value={value(0)} />
      <LegendItem style="dashed chart-1" name="without the change" value={value(1)} />
      <LegendItem style="dotted chart-6" name="recorded" value={value(2)} />
    </span>
  );
}

interface FigureRow {
  readonly title: string;
  readonly text: (figures: Figures) => string;
  /** Whether the figure exists for the recorded replicas, too. */
  readonly isOfRan?: boolean;
  readonly isOfDemand?: boolean;
}

const ROWS: readonly FigureRow[] = [
  { title: 'Pod-hours', text: ({ podHours }) => hoursText(podHours), isOfRan: true },
  { title: 'Highest replicas', text: ({ peakPods }) => formatCount(peakPods), isOfRan: true },
  { title: 'Changes', text: ({ changes }) => formatCount(changes), isOfRan: true },
  { title: 'Limited by maxReplicas', text: ({ atMaximum }) => percentText(atMaximum) },
  {
    title: 'Time with too few pods (tau_U)',
    text: ({ tauU }) => percentText(tauU),
    isOfRan: true,
    isOfDemand: true,
  },
  {
    title: 'Missing pods (theta_U)',
    text: ({ thetaU }) => percentText(thetaU),
    isOfRan: true,
    isOfDemand: true,
  },
];

function FiguresTable({ runs: { applied, changed, ran, need } }: { readonly runs: PastRuns }): VNode {
  const rows = ROWS.filter(({ isOfDemand = false }) => need !== null || !isOfDemand);
  const cell = (figures: Figures | null | undefined, { text }: FigureRow): string =>
    figures == null ? UNKNOWN : text(figures);
  return (
    <Table
      caption="Figures of the two documents and of the recorded replicas"
      columns={[
        { title: 'Figure' },
        { title: 'With change', isNumber: true },
        { title: 'Without', isNumber: true },
        { title: 'Recorded', isNumber: true },
      ]}
      rows={rows.map((row) => ({
        key: row.title,
        cells: [
          row.title,
          <b>{cell(changed.figures, row)}</b>,
          cell(applied.figures, row),
          cell(row.isOfRan === true ? ran?.figures : null, row),
        ],
      }))}
    />
  );
}

interface ApplyProps {
  readonly detail: ScalerDetail;
  readonly before: unknown;
  readonly after: PlainObject;
}

/** Shows how the user applies the change: an object is patched, a file is edited. */
export function Apply({ detail: { namespace, name, generation }, before, after }: ApplyProps): VNode {
  const code = useRef<HTMLElement>(null);
  const changes = fieldChanges(before, after, '');
  const patch = mergePatch(before, after);
  const isFile = generation === null;
  const { part } = usePart(loadText, isFile);
  // A value of null unsets a field in a patch, but not in a file. The list of the changes names the field.
  const text = isFile
    ? (part?.writeDocumentText(withoutNull(patch)).trimEnd() ?? '')
    : patchCommand({ namespace, name }, JSON.stringify(patch));
  return (
    <div class="what-if-apply">
      <p dir="auto">
        <b>Apply</b> <Sentence text={changes.map(changeText).join(', ')} />
        {isFile ? '. In the file, set:' : ':'}
      </p>
      <CommandText code={code} text={text} kind={isFile ? 'edit' : 'command'} />{' '}
      <button type="button" onClick={() => void copyText(text, code.current).then(announce)}>
        <Icon name="copy" /> Copy
      </button>
    </div>
  );
}

const loadText = () => import('./document-text.jsx');

function withoutNull(patch: PlainObject): PlainObject {
  return Object.fromEntries(
    Object.entries(patch).flatMap(([key, value]) =>
      value === null ? [] : [[key, isPlainObject(value) ? withoutNull(value) : value]],
    ),
  );
}
