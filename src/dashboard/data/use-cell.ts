import { useEffect, useState } from 'preact/hooks';
import type { ReadableCell } from './cell.js';

/** Returns the value of a cell and renders again when it changes. */
export function useCell<T>(cell: ReadableCell<T>): T {
  const [, render] = useState<object>({});
  const value = cell.get();
  useEffect(() => {
    const stop = cell.subscribe(() => render({}));
    // The cell may have changed between the rendering and this effect.
    if (!Object.is(cell.get(), value)) render({});
    return stop;
  }, [cell, value]);
  return value;
}
