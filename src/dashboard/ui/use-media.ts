import { useEffect, useState } from 'preact/hooks';

/** Returns whether a media query matches, and renders again when that changes. */
export function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const follow = (): void => setMatches(list.matches);
    list.addEventListener('change', follow);
    follow();
    return () => list.removeEventListener('change', follow);
  }, [query]);
  return matches;
}

/**
 * Media query of wide pages, on which the rows of tables are lines. On narrower pages, each row is a block. The style
 * sheets of the overview use the same width.
 */
export const WIDE = '(min-width: 68rem)';
