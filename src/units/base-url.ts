/** A loop, because a regular expression would take quadratic time for a long URL. */
export function withoutTrailingSlashes(url: string): string {
  return url.replace(/(?<!\/)\/+$/, '');
}
