import { describe, expect, it } from '@jest/globals';
import { h, options, render } from 'preact';
import { createCell, type Cell } from '../../../src/dashboard/data/cell.js';
import { useCell } from '../../../src/dashboard/data/use-cell.js';

/** Renders a component with a cell. Effects and further renderings run only when `settle` is called. */
function rendered(cell: Cell<number>): { values: readonly number[]; settle: () => void } {
  const tasks: (() => void)[] = [];
  const later = (run: () => void): void => void tasks.push(run);
  options.requestAnimationFrame = later;
  options.debounceRendering = later;
  const values: number[] = [];
  const Shown = (): null => {
    values.push(useCell(cell));
    return null;
  };
  render(h(Shown, {}), { childNodes: [] } as unknown as Element);
  const settle = (): void => {
    for (let task = tasks.shift(); task !== undefined; task = tasks.shift()) task();
  };
  return { values, settle };
}

describe('useCell', () => {
  it('renders again after a change', () => {
    const cell = createCell(1);
    const { values, settle } = rendered(cell);
    settle();

    cell.set(2);
    settle();

    expect(values).toEqual([1, 2]);
  });

  it('renders again after a change between rendering and its effect', () => {
    const cell = createCell(1);
    const { values, settle } = rendered(cell);

    cell.set(2);
    settle();

    expect(values).toEqual([1, 2]);
  });
});
