import { useLayoutEffect } from 'preact/hooks';

const positions = new Map<string, number>();

/**
 * Restores the scroll position of this list once it `isReady`, that is, has its full height. A new list starts at its
 * top and is not moved again: the user may have scrolled before it was ready.
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
