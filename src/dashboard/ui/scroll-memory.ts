import { useLayoutEffect } from 'preact/hooks';

const positions = new Map<string, number>();

/** Scrolls to where the viewer left this list, as soon as it `isReady`: as high as its rows need. */
export function useScrollMemory(key: string, isReady: boolean): void {
  useLayoutEffect(() => {
    if (!isReady) return;
    scrollTo(0, positions.get(key) ?? 0);
    const remember = (): void => void positions.set(key, scrollY);
    addEventListener('scroll', remember, { passive: true });
    return () => removeEventListener('scroll', remember);
  }, [key, isReady]);
}
