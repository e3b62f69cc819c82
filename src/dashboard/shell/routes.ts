/** A place in the dashboard. It is in the hash of the address, so that a link can be shared. */
export type Route =
  | { readonly page: 'overview' }
  | { readonly page: 'scaler'; readonly namespace: string; readonly name: string }
  | { readonly page: 'health' }
  | { readonly page: 'unknown' };

/** A hash, such as `#/scalers/shop/web?at=1`: `#/` and the path, and the parameters of the page. */
export interface Place {
  readonly route: Route;
  readonly parameters: URLSearchParams;
}

export function readHash(hash: string): Place {
  const text = hash.replace(/^#/, '');
  const mark = text.indexOf('?');
  const path = mark === -1 ? text : text.slice(0, mark);
  const parameters = new URLSearchParams(mark === -1 ? '' : text.slice(mark + 1));
  return { route: routeOf(path), parameters };
}

function routeOf(path: string): Route {
  const parts = path.split('/').filter((part) => part !== '');
  const [page, namespace, name] = parts.map(decoded);
  if (parts.length === 0) return { page: 'overview' };
  if (parts.length === 1 && page === 'health') return { page: 'health' };
  if (parts.length === 3 && page === 'scalers' && namespace != null && name != null)
    return { page: 'scaler', namespace, name };
  return { page: 'unknown' };
}

function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}
