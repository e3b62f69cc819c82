import 'uplot/dist/uPlot.min.css';
import './styles.css';
import type { PageData } from '../backtest/report/page-data.js';
import { createChanges } from './changes.js';
import { drawMetric } from './metric-chart.js';
import { drawPods } from './pods-chart.js';
import { element, formatTime } from './elements.js';
import { createTable } from './table.js';

/** The number of runs that are drawn first. */
const SHOWN_AT_FIRST = 6;

start();

function start(): void {
  const main = document.getElementById('report');
  const text = document.getElementById('data')?.textContent ?? '';
  if (main === null || text === '') return;
  // The command line writes this data together with this script.
  show(main, JSON.parse(text) as PageData);
}

function show(main: HTMLElement, data: PageData): void {
  const shown = new Set(data.runs.slice(0, SHOWN_AT_FIRST - 1).map(({ name }) => name));
  const last = data.runs.at(-1);
  if (last !== undefined) shown.add(last.name);
  let selected = data.runs.find(({ changes }) => changes.length > 0) ?? data.runs[0];

  const pods = element('div', { className: 'chart' });
  const metrics = element('div', { className: 'charts' });
  const changes = createChanges(data);
  const draw = (): void => {
    drawPods(pods, data, { shown, selected, onChange: changes.open });
    metrics.replaceChildren(
      ...(selected?.metrics ?? []).map((metric) => drawMetric(data, metric, metrics.clientWidth)),
    );
  };
  const select = (name: string): void => {
    selected = data.runs.find((run) => run.name === name) ?? selected;
    if (selected !== undefined) {
      shown.add(selected.name);
      changes.show(selected);
    }
    table.update();
    draw();
  };
  const table = createTable(data, shown, draw);
  main.replaceChildren(
    heading(data),
    ...section(
      'Pods',
      ['Drag to zoom, double-click to zoom out. A circle is a change: click it for its decision.'],
      [pods],
    ),
    ...section('Figures', data.notes, [table.root]),
    ...recommendation(data),
    ...section(
      'Metrics and changes of one run',
      [],
      [selector(data, selected?.name ?? '', select), metrics, changes.root],
    ),
    ...section('Assumptions', [], [list(data.assumptions)]),
  );
  if (selected !== undefined) changes.show(selected);
  draw();
  let width = main.clientWidth;
  new ResizeObserver(() => {
    if (main.clientWidth === width) return;
    width = main.clientWidth;
    draw();
  }).observe(main);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
}

function heading({ from, seconds, version, verdict }: PageData): HTMLElement {
  const times = `${formatTime(from)} to ${formatTime(from + seconds)}`;
  return element('header', {}, [
    element('h1', { textContent: 'Back-test' }),
    ...(verdict === null ? [] : [element('p', { className: 'verdict', textContent: verdict })]),
    element('p', { textContent: `${times}, promscaler ${version}` }),
  ]);
}

function section(
  title: string,
  notes: readonly string[],
  content: readonly HTMLElement[],
): readonly HTMLElement[] {
  const paragraphs = notes.map((textContent) => element('p', { className: 'note', textContent }));
  return [element('section', {}, [element('h2', { textContent: title }), ...paragraphs, ...content])];
}

function recommendation({ recommendation: lines }: PageData): readonly HTMLElement[] {
  if (lines.length === 0) return [];
  return section('Recommendation', [], [element('pre', { textContent: lines.join('\n').trim() })]);
}

function list(texts: readonly string[]): HTMLElement {
  return element(
    'ul',
    {},
    texts.map((textContent) => element('li', { textContent })),
  );
}

function selector({ runs }: PageData, value: string, onSelect: (name: string) => void): HTMLElement {
  const options = runs.map(({ name }) => element('option', { value: name, textContent: name }));
  const select = element('select', { id: 'run' }, options);
  select.value = value;
  select.addEventListener('change', () => onSelect(select.value));
  const label = element('label', { textContent: 'Run ' }, []);
  label.append(select);
  return element('p', { className: 'selector' }, [label]);
}
