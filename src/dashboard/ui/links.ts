export const OVERVIEW_LINK = '#/';
export const HEALTH_LINK = '#/health';

export function scalerLink(namespace: string, name: string): string {
  return `#/scalers/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
}

/** A page of the dashboard. The hash of the address contains it, so that links can be shared. */
export type Route =
  | { readonly page: 'overview' }
  | { readonly page: 'scaler'; readonly namespace: string; readonly name: string }
  | { readonly page: 'health' }
  | { readonly page: 'unknown' };

/** Parses a hash such as `#/scalers/shop/web?at=1`. */
export function routeOf(hash: string): Route {
  const path = hash.replace(/^#/, '').split('?', 1)[0] ?? '';
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
