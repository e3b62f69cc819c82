import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { PROBLEM_CLASSES, type ProblemCode } from '../../src/scaler/problems/problem-codes.js';
import { readScalers } from '../../src/scaler/read/read-scalers.js';

/** Each file starts with its expected problems, one per line: `# expect: CODE LINE:COLUMN PART OF THE MESSAGE`. */
const BAD_DOCUMENTS = new URL('./bad/', import.meta.url);
const FILES = readdirSync(BAD_DOCUMENTS);

/** Codes for the service config and directories, and codes that need a large file or a bug: tested elsewhere. */
const ELSEWHERE: readonly ProblemCode[] = [
  'yaml-size',
  'too-many-problems',
  'internal-error',
  'yaml-count',
  'wrong-url',
  'wrong-settings',
  'unreadable',
  'no-documents',
  'schedule-past',
  'resource-window',
  'not-updated',
  'shared-target',
];

const SERVICE = {
  sources: [
    { name: 'default', namespaces: [] },
    { name: 'other', namespaces: ['back'] },
  ],
  namespaces: ['shop', 'back'],
};

interface Expected {
  readonly code: string;
  readonly place: string;
  readonly message: string;
}

function expectedOf(text: string): readonly Expected[] {
  return Array.from(text.matchAll(/^# expect: (\S+) (\S+) (.+)$/gm), ([, code, place, message]) => ({
    code: code!,
    place: place!,
    message: message!,
  }));
}

describe('an invalid document', () => {
  it.each(FILES)('has exactly the problems that it lists: %s', (file) => {
    const text = readFileSync(new URL(file, BAD_DOCUMENTS), 'utf8');
    const expected = expectedOf(text);

    const { scalers, problems } = readScalers(
      text,
      file,
      text.startsWith('# service') ? { service: SERVICE } : {},
    );

    expect(expected.length).toBeGreaterThan(0);
    expect(
      problems.map(({ code, place, message }, index) => ({
        code,
        place: place === null ? 'nowhere' : `${place.line}:${place.column}`,
        message: message.includes(expected[index]?.message ?? '') ? expected[index]?.message : message,
      })),
    ).toEqual(expected);
    const isRefused = problems.some(({ severity }) => severity === 'error');
    expect(scalers.length).toBe(isRefused ? 0 : 1);
  });

  it('has no message of zod, which the dashboard is built without', () => {
    const { localeError } = z.config();
    z.config({ localeError: () => 'a message of zod' });
    const messages = FILES.flatMap((file) => {
      const text = readFileSync(new URL(file, BAD_DOCUMENTS), 'utf8');
      return readScalers(text, file, {}).problems.map(({ message }) => message);
    });
    z.config({ localeError });

    expect(messages.length).toBeGreaterThanOrEqual(FILES.length);
    expect(messages.filter((message) => message.includes('a message of zod'))).toEqual([]);
  });

  it('exists for each code', () => {
    const covered = new Set(
      FILES.flatMap((file) => expectedOf(readFileSync(new URL(file, BAD_DOCUMENTS), 'utf8'))).map(
        ({ code }) => code,
      ),
    );

    const codes = Object.keys(PROBLEM_CLASSES) as ProblemCode[];
    expect(codes.filter((code) => !covered.has(code) && !ELSEWHERE.includes(code))).toEqual([]);
  });
});
