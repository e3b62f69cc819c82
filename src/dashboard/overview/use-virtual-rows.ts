import type { RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { visibleRange, type Layout, type RowRange } from './visible-range.js';

interface VirtualRows extends RowRange, Omit<Layout, 'headings'> {}

interface VirtualRowsOptions {
  /** The element that contains all rows and has their total height. */
  readonly body: RefObject<HTMLElement | null>;
  /**
   * A hidden element that measures heights, which depend on the font size: its height is that of a row, its width is
   * the height of a heading.
   */
  readonly probe: RefObject<HTMLElement | null>;
  readonly rows: number;
  readonly headings: Layout['headings'];
}

/** Returns the rows to draw at the current scroll position, and the measured heights. */
export function useVirtualRows({ body, probe, rows, headings }: VirtualRowsOptions): VirtualRows {
  const [view, setView] = useState<VirtualRows>({ first: 0, end: 0, rowHeight: 0, headingHeight: 0 });
  useLayoutEffect(() => {
    // Measured only when the layout changes: measuring while scrolling would force the browser to compute the layout
    // each time.
    let [rowHeight, headingHeight, bodyTop] = [0, 0, 0];
    const follow = (): void => {
      const layout = { rowHeight, headings, headingHeight };
      const range = visibleRange({ ...layout, offset: bodyTop - scrollY, height: innerHeight, rows });
      setView((before) =>
        before.first === range.first && before.end === range.end && before.rowHeight === rowHeight
          ? before
          : { ...range, rowHeight, headingHeight },
      );
    };
    const measure = (): void => {
      if (body.current === null || probe.current === null) return;
      rowHeight = probe.current.offsetHeight;
      headingHeight = probe.current.offsetWidth;
      bodyTop = body.current.getBoundingClientRect().top + scrollY;
      follow();
    };
    measure();
    const observer = new ResizeObserver(measure);
    for (const element of [probe.current, document.documentElement])
      if (element !== null) observer.observe(element);
    addEventListener('scroll', follow, { passive: true });
    addEventListener('resize', measure);
    return () => {
      observer.disconnect();
      removeEventListener('scroll', follow);
      removeEventListener('resize', measure);
    };
  }, [body, probe, rows, headings]);
  return { ...view, end: Math.min(view.end, rows) };
}

const positions = new Map<string, number>();

/**
 * Restores the scroll position of a list when `isReady` says that it has its full height. A new list starts at its top
 * and is not moved later, because the user may already have scrolled.
 */
export function useScrollMemory(key: string, isReady: boolean): void {
  useLayoutEffect(() => {
    if (!positions.has(key)) scrollTo(0, 0);
  }, [key]);
  useLayoutEffect(() => {
    if (!isReady) return;
    const known = positions.get(key);
    const remember = (): void => void positions.set(key, scrollY);
    if (known === undefined) remember();
    else scrollTo(0, known);
    addEventListener('scroll', remember, { passive: true });
    return () => removeEventListener('scroll', remember);
  }, [key, isReady]);
}
