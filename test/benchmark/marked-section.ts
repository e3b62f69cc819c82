import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/**
 * Replaces the section `name` of a Markdown page, or appends it; creates the page if there is none.
 * `lines`: of the section, without its markers.
 */
export function writeMarkedSection(file: string, name: string, lines: readonly string[]): void {
  const page = existsSync(file) ? readFileSync(file, 'utf8') : '# Benchmarks\n';
  writeFileSync(file, withMarkedSection(page, name, lines));
}

/** Returns the page with these lines between the markers `<!-- NAME:begin -->` and `<!-- NAME:end -->`. */
export function withMarkedSection(page: string, name: string, lines: readonly string[]): string {
  const [begin, end] = [`<!-- ${name}:begin -->`, `<!-- ${name}:end -->`];
  const section = [begin, ...lines, end].join('\n');
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from === -1 || to < from) return `${page.trimEnd()}\n\n${section}\n`;
  return page.slice(0, from) + section + page.slice(to + end.length);
}
