import 'uplot/dist/uPlot.min.css';
import './styles.css';
import type { PageData, PageChange, PageRun } from '../backtest/page-data.js';
import { formatDated, formatExact, zoneOf } from '../units/short-time.js';
import { splitTimes } from '../units/split-times.js';
import { colorNumber, drawMetric, drawPods, element } from './charts.js';

/** How many runs are drawn at first. */
const SHOWN_AT_FIRST = 6;

start();

function start(): void {
  const main = document.getElementById('report');
  const data = document.getElementById('data')?.textContent ?? '';
  if (main === null || data === '') return;
  // The cast is safe, because the command line writes the data together with this script.
  show(main, JSON.parse(data) as PageData);
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
      ['Drag to zoom in, double-click to zoom out. Click the circle of a change to see its decision.'],
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
  return element('header', {}, [
    element('h1', { textContent: 'Back-test' }),
    ...(verdict === null ? [] : [element('p', { className: 'verdict', textContent: verdict })]),
    element('p', {}, [
      timeOf(1000 * from),
      text(' to '),
      timeOf(1000 * (from + seconds)),
      text(`, times in ${zoneOf(1000 * from)}, promscaler ${version}`),
    ]),
  ]);
}

function section(
  title: string,
  notes: readonly string[],
  content: readonly HTMLElement[],
): readonly HTMLElement[] {
  const paragraphs = notes.map((note) => element('p', { className: 'note' }, sentence(note)));
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
    texts.map((one) => element('li', {}, sentence(one))),
  );
}

/** Returns the nodes of a sentence, with its times in the time zone of the browser, and on hover also in UTC. */
function sentence(line: string): readonly Node[] {
  return splitTimes(line).map((piece) => (piece.isTime ? timeOf(Date.parse(piece.text)) : text(piece.text)));
}

function timeOf(ms: number): HTMLElement {
  return element('time', { title: formatExact(ms), textContent: formatDated(ms) });
}

function text(data: string): Text {
  return document.createTextNode(data);
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

/** Creates the table of figures, with a checkbox for each run that can be drawn. */
function createTable(
  { table, runs }: PageData,
  shown: Set<string>,
  onToggle: () => void,
): { readonly root: HTMLElement; readonly update: () => void } {
  const boxes: HTMLInputElement[] = [];
  const nameCell = (name: string): HTMLElement => {
    const index = runs.findIndex((run) => run.name === name);
    if (index < 0) return element('th', { scope: 'row', textContent: name });
    const box = element('input', { type: 'checkbox', value: name, checked: shown.has(name) });
    box.addEventListener('change', () => {
      if (box.checked) shown.add(name);
      else shown.delete(name);
      onToggle();
    });
    boxes.push(box);
    const swatch = element('span', { className: `swatch run-${colorNumber(index)}` });
    const label = element('label', {}, [box, swatch, text(name)]);
    return element('th', { scope: 'row' }, [label]);
  };
  const head = element('tr', {}, [
    element('th', { scope: 'col', textContent: 'Run' }),
    ...table.columns.map((textContent) => element('th', { scope: 'col', textContent })),
  ]);
  const rows = table.rows.map(({ name, cells }) =>
    element('tr', {}, [nameCell(name), ...cells.map((textContent) => element('td', { textContent }))]),
  );
  const root = element('div', { className: 'scroll', tabIndex: 0, role: 'region', ariaLabel: 'Figures' }, [
    element('table', {}, [element('thead', {}, [head]), element('tbody', {}, rows)]),
  ]);
  return {
    root,
    update: () => {
      for (const box of boxes) box.checked = shown.has(box.value);
    },
  };
}

/** Creates the list of the changes of a run, and the decision of the selected change. */
function createChanges(data: PageData): {
  readonly root: HTMLElement;
  readonly show: (run: PageRun) => void;
  readonly open: (change: PageChange) => void;
} {
  let run: PageRun | null = null;
  const list = element('select', { id: 'changes', size: 10 });
  const label = element('label', { textContent: 'Changes', htmlFor: 'changes' });
  const decision = element('pre', { id: 'decision', tabIndex: 0, role: 'region', ariaLabel: 'Decision' });

  const describe = (change: PageChange | undefined): void => {
    if (change === undefined) {
      decision.textContent = run === null || run.changes.length === 0 ? 'No changes.' : 'Choose a change.';
      return;
    }
    const lines = change.lines.map((index) => data.lines[index] ?? '');
    decision.replaceChildren(
      ...sentence(lines.length === 0 ? 'The file has no explanation of this change.' : lines.join('\n')),
    );
  };
  list.addEventListener('change', () => describe(run?.changes[list.selectedIndex]));
  return {
    root: element('div', { className: 'changes' }, [element('div', {}, [label, list]), decision]),
    show: (next) => {
      run = next;
      const options = next.changes.map(({ at, from, to }, index) => {
        const ms = 1000 * (data.from + at);
        const textContent = `${formatDated(ms)}  ${from} -> ${to}`;
        return element('option', { value: String(index), title: formatExact(ms), textContent });
      });
      list.replaceChildren(...options);
      list.selectedIndex = -1;
      describe(undefined);
    },
    open: (change) => {
      list.selectedIndex = run?.changes.indexOf(change) ?? -1;
      describe(change);
      decision.scrollIntoView({ block: 'nearest' });
      decision.focus({ preventScroll: true });
    },
  };
}
