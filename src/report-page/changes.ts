import type { PageChange, PageData, PageRun } from '../backtest/report/page-data.js';
import { element, formatTime } from './elements.js';

/** Shows the changes of one run, and the decision of the selected change. */
export function createChanges(data: PageData): {
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
    decision.textContent = lines.length === 0 ? 'The explanation was left out.' : lines.join('\n');
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
