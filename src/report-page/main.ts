import 'uplot/dist/uPlot.min.css';
import './styles.css';
import type { PageData, PageChange, PageRun } from '../backtest/page-data.js';
import { colorNumber, drawMetric, drawPods, element, formatTime } from './charts.js';

/** How many runs are drawn at first. */
const SHOWN_AT_FIRST = 6;

start();

function start(): void {
  const main = document.getElementById('report');
  const text = document.getElementById('data')?.textContent ?? '';
  if (main === null || text === '') return;
  // The cast is safe, because the command line writes the data together with this script.
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
    const label = element('label', {}, [box, swatch, document.createTextNode(name)]);
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
    decision.textContent =
      lines.length === 0 ? 'The file has no explanation of this change.' : lines.join('\n');
  };
  list.addEventListener('change', () => describe(run?.changes[list.selectedIndex]));
  return {
    root: element('div', { className: 'changes' }, [element('div', {}, [label, list]), decision]),
    show: (next) => {
      run = next;
      const options = next.changes.map(({ at, from, to }, index) =>
        element('option', {
          value: String(index),
          textContent: `${formatTime(data.from + at)}  ${from} -> ${to}`,
        }),
      );
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
