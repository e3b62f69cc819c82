import type { RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { topsOf, visibleRange, type LineKind, type RowRange } from './visible-range.js';

interface VirtualRows extends RowRange {
  /** See `topsOf`. */
  readonly tops: readonly number[];
}

interface VirtualRowsOptions {
  /** The element that contains all rows and has their total height. */
  readonly body: RefObject<HTMLElement | null>;
  /**
   * A hidden element that measures heights, which depend on the font size. Its children have the heights of a row, a
   * short row and a heading.
   */
  readonly probe: RefObject<HTMLElement | null>;
  readonly kinds: readonly LineKind[];
}

/** Returns the lines to draw at the current scroll position, and the positions of all lines. */
export function useVirtualRows({ body, probe, kinds }: VirtualRowsOptions): VirtualRows {
  const [view, setView] = useState<VirtualRows>({ first: 0, end: 0, tops: [0] });
  useLayoutEffect(() => {
    // Heights are measured only when the layout changes: a measurement while scrolling would force the browser to
    // compute the layout each time.
    let [least, bodyTop] = [0, 0];
    let tops: readonly number[] = [0];
    const follow = (): void => {
      const range = visibleRange({ tops, least, offset: bodyTop - scrollY, height: innerHeight });
      setView((before) =>
        before.first === range.first && before.end === range.end && before.tops === tops
          ? before
          : { ...range, tops },
      );
    };
    const measure = (): void => {
      if (body.current === null || probe.current === null) return;
      const [row = 0, short = 0, heading = 0] = [...probe.current.children].map(
        (child) => child.getBoundingClientRect().height,
      );
      least = Math.min(row, short, heading);
      tops = topsOf(kinds, { row, short, heading });
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
  }, [body, probe, kinds]);
  return { ...view, end: Math.min(view.end, kinds.length) };
}

const positions = new Map<string, number>();

/**
 * Restores the scroll position of a list when the list has its full height (`isReady`). A new list starts at its top
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
