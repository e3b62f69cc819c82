import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const ROOT = join(import.meta.dirname, '..');

const page = (name: string): string => readFileSync(join(ROOT, 'docs/design', name), 'utf8');
const ALGORITHM = page('algorithm.md');
const RELIABILITY = page('reliability.md');
const CONTRACT = page('contract.md');

/** All lines of `src` and `test` that cite a page, with the line behind each, for a citation may go on there. */
const CITATIONS = ['src', 'test']
  .flatMap((directory) =>
    readdirSync(join(ROOT, directory), { recursive: true, encoding: 'utf8' }).map((name) =>
      join(directory, name),
    ),
  )
  .filter((name) => name.endsWith('.ts') && !/^test\/docs[./-]/.test(name))
  .flatMap((name) => {
    const lines = readFileSync(join(ROOT, name), 'utf8').split('\n');
    return lines.flatMap((line, index) =>
      /(algorithm|contract|reliability|snapshot)\.md/.test(line)
        ? [
            {
              where: `${name}:${index + 1}`,
              text: `${line} ${(lines[index + 1] ?? '').replace(/^[\s*]+/, '')}`,
            },
          ]
        : [],
    );
  });

/** Returns the numbers of the sections of a page: `## 3. Prometheus`. */
function sectionsOf(text: string): ReadonlySet<number> {
  return new Set([...text.matchAll(/^## (\d+)\./gm)].map(([, number]) => Number(number)));
}

/** Returns the requirement ids of the page: rows of its tables, and the ranges that fault rows contain. */
function requirementIds(): ReadonlySet<string> {
  const rows = [...RELIABILITY.matchAll(/^\| ([A-Z]\d+)(?: to ([A-Z])(\d+))? +\|/gm)];
  return new Set(
    rows.flatMap(([, first = '', letter, last]) => {
      if (letter === undefined) return [first];
      const from = Number(first.slice(1));
      return Array.from({ length: Number(last) - from + 1 }, (_, index) => `${letter}${from + index}`);
    }),
  );
}

const IDS = requirementIds();
const POINTS = new Set([...ALGORITHM.matchAll(/^(\d+)\. /gm)].map(([, number]) => Number(number)));
const SECTIONS: Readonly<Record<string, ReadonlySet<number>>> = {
  'algorithm.md': sectionsOf(ALGORITHM),
  'contract.md': sectionsOf(CONTRACT),
  'reliability.md': sectionsOf(RELIABILITY),
  'snapshot.md': sectionsOf(page('snapshot.md')),
};
const DECISIONS = [...RELIABILITY.slice(RELIABILITY.indexOf('## 11.')).matchAll(/^(\d+)\. /gm)].length;

/** Returns the part of a citation of `name` that can contain an id: up to the end of the sentence. */
function cited(text: string, name: string): string {
  const start = text.indexOf(name);
  return start === -1
    ? ''
    : (/^`?([^*"'`]*?)(?=\. |\.$|;|\)|$)/.exec(text.slice(start + name.length))?.[1] ?? '');
}

describe('a citation in comments and tests', () => {
  it('names text that exists in the pages', () => {
    expect(CITATIONS.length).toBeGreaterThan(50);
    expect(IDS.size).toBeGreaterThan(150);
    expect([POINTS.size, DECISIONS]).toEqual([37, 18]);
    expect(Object.values(SECTIONS).map(({ size }) => size)).toEqual([7, 8, 11, 0]);
  });

  it('exists under its id in reliability.md', () => {
    const missing = CITATIONS.flatMap(({ where, text }) =>
      [...cited(text, 'reliability.md').matchAll(/\b[KWPDCSOIF]\d{1,3}\b/g)]
        .filter(([id]) => !IDS.has(id))
        .map(([id]) => `${where}: ${id}`),
    );

    expect(missing).toEqual([]);
  });

  it('exists as a section of its page, as a decision of reliability.md, and as a point or step of algorithm.md', () => {
    const missing = CITATIONS.flatMap(({ where, text }) => {
      const sections = Object.entries(SECTIONS).flatMap(([name, numbers]) =>
        [...cited(text, name).matchAll(/\bsections? (\d+)(?![.\d])/g)].filter(
          ([, number]) => !numbers.has(Number(number)),
        ),
      );
      const decisions = [...cited(text, 'reliability.md').matchAll(/\bdecisions? (\d+)/g)];
      const numbers = [...cited(text, 'algorithm.md').matchAll(/\b(point|step)s? (\d+)/g)];
      return [
        ...sections,
        ...decisions.filter(([, number]) => Number(number) > DECISIONS),
        ...numbers.filter(([, kind, number]) => !isThere(kind ?? '', Number(number))),
      ].map(([found]) => `${where}: ${found}`);
    });

    expect(missing).toEqual([]);
  });

  it('says what a number counts: no page has a "3.2"', () => {
    const bare = CITATIONS.flatMap(({ where, text }) =>
      Object.keys(SECTIONS).flatMap((name) => {
        const [found] = /^,? (?:sections? \d+\.)?\d[\d.]*/.exec(cited(text, name)) ?? [];
        return found === undefined ? [] : [`${where}: ${name}${found}`];
      }),
    );

    expect(bare).toEqual([]);
  });
});

function isThere(kind: string, number: number): boolean {
  return kind === 'step' ? number >= 1 && number <= 7 : POINTS.has(number);
}
