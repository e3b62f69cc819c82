const DECIMAL = /^[1-9]\d*$/;

/**
 * Below 0 where `a` is older than `b`, 0 where they are the same, above 0 where it is newer; null where one of them is
 * no decimal number, as an aggregated API server may have it. Only versions of one resource may be compared.
 * Source: apimachinery pkg/util/resourceversion, CompareResourceVersion.
 */
export function compareResourceVersions(a: string, b: string): number | null {
  if (!DECIMAL.test(a) || !DECIMAL.test(b)) return null;
  if (a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** `a` is known to be older than `b`. */
export function isOlder(a: string, b: string): boolean {
  const order = compareResourceVersions(a, b);
  return order !== null && order < 0;
}
