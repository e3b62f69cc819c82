import { useLayoutEffect } from 'preact/hooks';

const positions = new Map<string, number>();

/** Restores the scroll position of this list when it `isReady`, which means that it has its full height. */
export function useScrollMemory(key: string, isReady: boolean): void {
  useLayoutEffect(() => {
    if (!isReady) return;
    scrollTo(0, positions.get(key) ?? 0);
    const remember = (): void => void positions.set(key, scrollY);
    addEventListener('scroll', remember, { passive: true });
    return () => removeEventListener('scroll', remember);
  }, [key, isReady]);
}
