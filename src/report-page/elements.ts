/** Creates an element. Strings become text nodes, so no name becomes HTML. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Partial<HTMLElementTagNameMap[Tag]>,
  children: readonly Node[] = [],
): HTMLElementTagNameMap[Tag] {
  const created = Object.assign(document.createElement(tag), properties);
  created.append(...children);
  return created;
}

/** Times are in UTC, as in the output of the command line. */
export function formatTime(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString().replace(/\.\d+Z$/, 'Z');
}

const COLORS = 6;

/** Returns the color of the run with this index, from the style sheet. */
export function colorOf(index: number): string {
  return cssColor(`--run-${(index % COLORS) + 1}`);
}

export function cssColor(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Dashes lines from the seventh run on. */
export function dashOf(index: number): number[] {
  const round = Math.floor(index / COLORS);
  return round === 0 ? [] : [6, 2 + 2 * round];
}
