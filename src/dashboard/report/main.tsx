import { render, type VNode } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { PageChange, PageData, PageRun } from '../../backtest/page-data.js';
import { formatDated, formatExact, zoneOf } from '../../units/short-time.js';
import { splitTimes } from '../../units/split-times.js';
import { createCell } from '../data/cell.js';
import type { ChartLinks } from '../scaler/chart/chart-options.js';
import type { Mark } from '../scaler/model/changes.js';
import { Section } from '../ui/section.jsx';
import { Table } from '../ui/table.jsx';
import { TimeText } from '../ui/time.jsx';
import { MetricChart, PodsChart, styleOf, swatchOf } from './report-charts.jsx';
import type { TimeWindow } from '../scaler/model/ranges.js';
import '../design/tokens.css';
import '../design/base.css';
import '../design/parts.css';
import './report.css';

/** How many runs are drawn at first. */
const SHOWN_AT_FIRST = 6;

/** The page of `backtest --html`. */
function Report({ data }: { readonly data: PageData }): VNode {
  const { from, seconds, version, verdict, runs, recommendation } = data;
  const [shown, setShown] = useState<ReadonlySet<string>>(
    () => new Set([...runs.slice(0, SHOWN_AT_FIRST - 1), ...runs.slice(-1)].map(({ name }) => name)),
  );
  const [run, setRun] = useState(() => runs.find(({ changes }) => changes.length > 0) ?? runs[0]);
  const [zoom, setZoom] = useState<TimeWindow | null>(null);
  /** `isClicked`: the change was selected in a chart, so that its decision may be out of sight. */
  const [picked, pick] = useState<{
    readonly change?: (PageChange & Mark) | undefined;
    readonly isClicked?: boolean;
  }>({});
  const decision = useRef<HTMLPreElement>(null);
  useEffect(() => {
    if (picked.isClicked !== true) return;
    decision.current?.scrollIntoView({ block: 'nearest' });
    decision.current?.focus({ preventScroll: true });
  }, [picked]);

  const hover = useMemo(() => createCell<number | null>(null), []);
  const changes = useMemo(
    () => (run?.changes ?? []).map((one) => ({ ...one, second: from + one.at, isApplied: true })),
    [run, from],
  );
  const links: ChartLinks = {
    window: zoom ?? { from, to: from + seconds },
    now: from + seconds,
    changes,
    selected: picked.change?.second ?? null,
    onZoom: setZoom,
    onPick: (second) => {
      const change = changes.find((one) => one.second === second);
      if (change !== undefined) pick({ change, isClicked: true });
    },
    onHover: hover.set,
  };
  // There may be thousands of changes.
  const options = useMemo(
    () =>
      changes.map(({ second, from: before, to }, index) => (
        <option key={index} value={index} title={formatExact(1000 * second)}>
          {`${formatDated(1000 * second)}  ${before} -> ${to}`}
        </option>
      )),
    [changes],
  );
  const toggle = (name: string): void => {
    const others = [...shown].filter((one) => one !== name);
    setShown(new Set(shown.has(name) ? others : [...others, name]));
  };
  const select = (next: PageRun | undefined): void => {
    if (next === undefined) return;
    setRun(next);
    pick({});
    setShown(new Set([...shown, next.name]));
  };
  return (
    <>
      <header>
        <h1>Back-test</h1>
        {verdict === null ? null : <p class="verdict">{verdict}</p>}
        <p class="muted">
          <TimeText ms={1000 * from} format={formatDated} /> to{' '}
          <TimeText ms={1000 * (from + seconds)} format={formatDated} />, times in {zoneOf(1000 * from)},
          promscaler {version}
        </p>
      </header>
      <Section title="Pods">
        <p class="hint">
          Drag or pinch to zoom in. Click the triangle of a change to see its decision.
          {zoom === null ? null : (
            <button type="button" class="link-button" onClick={() => setZoom(null)}>
              Zoom out
            </button>
          )}
        </p>
        <PodsChart data={data} shown={shown} selected={run} links={links} hover={hover} />
      </Section>
      <Section title="Figures">
        {data.notes.map((note) => (
          <p key={note} class="hint">
            <Dated text={note} />
          </p>
        ))}
        <Figures data={data} shown={shown} onToggle={toggle} />
      </Section>
      {recommendation.length === 0 ? null : (
        <Section title="Recommendation">
          <pre>{recommendation.join('\n').trim()}</pre>
        </Section>
      )}
      <Section title="Metrics and changes of one run">
        <label>
          Run{' '}
          <select
            id="run"
            value={run?.name}
            onChange={({ currentTarget: { value } }) => select(runs.find(({ name }) => name === value))}
          >
            {runs.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        {run?.metrics.map((metric) => (
          <MetricChart key={metric.name} data={data} metric={metric} links={links} hover={hover} />
        ))}
        <div class="changes">
          <div>
            <label for="changes">Changes</label>
            <select
              id="changes"
              size={10}
              value={picked.change === undefined ? -1 : changes.indexOf(picked.change)}
              onChange={({ currentTarget }) => pick({ change: changes[currentTarget.selectedIndex] })}
            >
              {options}
            </select>
          </div>
          <pre id="decision" ref={decision} tabIndex={0} role="region" aria-label="Decision">
            <Dated text={decisionText(data, changes, picked.change)} />
          </pre>
        </div>
      </Section>
      <Section title="Assumptions">
        <ul class="assumptions">
          {data.assumptions.map((one) => (
            <li key={one}>
              <Dated text={one} />
            </li>
          ))}
        </ul>
      </Section>
    </>
  );
}

function decisionText(
  { lines }: PageData,
  changes: readonly PageChange[],
  change: PageChange | undefined,
): string {
  if (change === undefined) return changes.length === 0 ? 'No changes.' : 'Choose a change.';
  if (change.lines.length === 0) return 'The file has no explanation of this change.';
  return change.lines.map((index) => lines[index] ?? '').join('\n');
}

/** Shows a text with its times in the time zone of the browser, and on hover also in UTC. Times are never today. */
function Dated({ text }: { readonly text: string }): VNode {
  return (
    <>
      {splitTimes(text).map((piece, index) =>
        piece.isTime ? <TimeText key={index} ms={Date.parse(piece.text)} format={formatDated} /> : piece.text,
      )}
    </>
  );
}

interface FiguresProps {
  readonly data: PageData;
  readonly shown: ReadonlySet<string>;
  readonly onToggle: (name: string) => void;
}

/** Shows the table of figures, with a checkbox for each run that can be drawn. */
function Figures({ data: { table, runs }, shown, onToggle }: FiguresProps): VNode {
  const nameCell = (name: string): VNode | string => {
    const index = runs.findIndex((run) => run.name === name);
    if (index < 0) return name;
    return (
      <label>
        <input type="checkbox" checked={shown.has(name)} onChange={() => onToggle(name)} />
        <span class={`swatch ${swatchOf(styleOf(index, name))}`} />
        {name}
      </label>
    );
  };
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Table of figures">
      <Table
        caption="Figures of the runs"
        columns={[{ title: 'Run' }, ...table.columns.map((title) => ({ title, isNumber: true }))]}
        rows={table.rows.map(({ name, cells }) => ({ key: name, cells: [nameCell(name), ...cells] }))}
      />
    </div>
  );
}

const root = document.getElementById('report');
const json = document.getElementById('data')?.textContent ?? '';
// The cast is safe, because the command line writes the data together with this script.
if (root !== null && json !== '') render(<Report data={JSON.parse(json) as PageData} />, root);
