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

/** The sixth color of charts is that of the demand. */
const COLORS = 5;

/** Returns the number of the color of the run with this index, from 1. */
export function colorNumber(index: number): number {
  return (index % COLORS) + 1;
}

/** Returns a color of the style sheet in the current theme, which a canvas needs. */
export function cssColor(name: string): string {
  document.body.style.accentColor = `var(${name})`;
  return getComputedStyle(document.body).accentColor;
}

/** Dashes lines from the sixth run on. */
export function dashOf(index: number): number[] {
  const round = Math.floor(index / COLORS);
  return round === 0 ? [] : [6, 2 + 2 * round];
}
