import type { RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { visibleRange } from './visible-range.js';
import type { Layout, RowRange } from './visible-range.js';

interface VirtualRows extends RowRange, Omit<Layout, 'headings'> {}

interface VirtualRowsOptions {
  /** The element whose height is that of all rows together. */
  readonly body: RefObject<HTMLElement | null>;
  /** A hidden element, as high as a row, and as wide as a heading is high: both depend on the font size. */
  readonly probe: RefObject<HTMLElement | null>;
  readonly rows: number;
  readonly headings: Layout['headings'];
}

/** Returns which rows must be drawn at the current scroll position. */
export function useVirtualRows({ body, probe, rows, headings }: VirtualRowsOptions): VirtualRows {
  const [view, setView] = useState<VirtualRows>({ first: 0, end: 0, rowHeight: 0, headingHeight: 0 });
  useLayoutEffect(() => {
    // Measured only when the layout changes, because measuring while scrolling would compute the layout each time.
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
