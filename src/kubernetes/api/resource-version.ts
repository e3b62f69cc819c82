const DECIMAL = /^[1-9]\d*$/;

/**
 * Returns a number below 0 if `a` is older than `b`, 0 if they are equal, above 0 if `a` is newer. Returns null if one
 * of them is not a decimal number, as in some aggregated API servers. Only versions of the same resource are
 * comparable. Source: apimachinery pkg/util/resourceversion, CompareResourceVersion.
 */
export function compareResourceVersions(a: string, b: string): number | null {
  if (!DECIMAL.test(a) || !DECIMAL.test(b)) return null;
  if (a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Returns false if the versions cannot be compared. */
export function isOlder(a: string, b: string): boolean {
  const order = compareResourceVersions(a, b);
  return order !== null && order < 0;
}
