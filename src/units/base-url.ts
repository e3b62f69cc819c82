/** Returns a URL without the slashes at its end, so that a path can be appended. Linear in the length of the URL. */
export function withoutTrailingSlashes(url: string): string {
  return url.replace(/(?<!\/)\/+$/, '');
}
