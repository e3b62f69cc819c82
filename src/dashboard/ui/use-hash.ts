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
