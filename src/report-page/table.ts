import type { PageData } from '../backtest/report/page-data.js';
import { element } from './elements.js';

/** Creates the table of figures. A run that can be drawn has a checkbox. */
export function createTable(
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
    const swatch = element('span', { className: `swatch run-${(index % 6) + 1}` });
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
