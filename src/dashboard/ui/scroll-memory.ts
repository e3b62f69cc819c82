import { useLayoutEffect } from 'preact/hooks';

const positions = new Map<string, number>();

/**
 * Restores the scroll position of a list as soon as it `isReady`, which means that it has its full height. A list that
 * is new starts at its top and is not moved later, because the user may already have scrolled.
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
