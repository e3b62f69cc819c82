/** Removes slashes at the end. The lookbehind keeps the time linear in the length of the URL. */
export function withoutTrailingSlashes(url: string): string {
  return url.replace(/(?<!\/)\/+$/, '');
}
