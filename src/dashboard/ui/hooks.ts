import { useEffect, useState } from 'preact/hooks';

/** Returns the hash of the address and renders again when it changes. */
export function useHash(): string {
  const [hash, setHash] = useState(() => location.hash);
  useEffect(() => {
    const follow = (): void => setHash(location.hash);
    addEventListener('hashchange', follow);
    follow();
    return () => removeEventListener('hashchange', follow);
  }, []);
  return hash;
}

/** Returns the parameters of a hash: for `#/?state=waiting`, these are `state=waiting`. */
export function parametersOf(hash: string): URLSearchParams {
  const mark = hash.indexOf('?');
  return new URLSearchParams(mark === -1 ? '' : hash.slice(mark + 1));
}

/** Replaces the parameters in the address of the current page, without a new entry in the browser history. */
export function replaceParameters(parameters: URLSearchParams): void {
  const path = location.hash.split('?', 1)[0] ?? '';
  const query = parameters.size === 0 ? '' : `?${parameters.toString()}`;
  const next = `${path === '' ? '#/' : path}${query}`;
  if (next === location.hash) return;
  history.replaceState(null, '', next);
  dispatchEvent(new HashChangeEvent('hashchange'));
}

/**
 * Loads a part of the code of the page when `isWanted` is true. If loading fails, the part stays missing until the page
 * is reloaded, because browsers cache the failure.
 */
export function usePart<T extends object>(
  load: () => Promise<T>,
  isWanted: boolean,
): { readonly part: T | null; readonly hasFailed: boolean } {
  const [state, setState] = useState<{ readonly part: T | null; readonly hasFailed: boolean }>({
    part: null,
    hasFailed: false,
  });
  useEffect(() => {
    let isCurrent = isWanted;
    if (isWanted)
      load().then(
        (part) => isCurrent && setState({ part, hasFailed: false }),
        () => isCurrent && setState({ part: null, hasFailed: true }),
      );
    return () => {
      isCurrent = false;
    };
  }, [load, isWanted]);
  return state;
}

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
