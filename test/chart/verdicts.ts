import { beforeAll, describe, expect, it } from '@jest/globals';
import { HELMS, startHelm, template } from './helm.js';
import type { Helm, Values } from './helm.js';

/** Values by their case; each rejected one with a part of the message. */
export interface Verdicts {
  readonly refused: Readonly<Record<string, readonly [values: Values, sentence: string]>>;
  readonly accepted: Readonly<Record<string, Values>>;
}

/** Cases in one document of values. */
export interface Group {
  readonly names: readonly string[];
  readonly values: Values;
  readonly sentences: readonly string[];
}

/**
 * Tests that each helm rejects or accepts these values, several of the rejected ones at once. No secret of the values,
 * which are all named canary, is printed.
 */
export function describeVerdicts(title: string, { refused, accepted }: Verdicts): void {
  const cases = Object.entries(refused).map(
    ([name, [values, sentence]]) => [name, values, sentence] as const,
  );

  describe.each(HELMS)(`${title}, with %s`, (which) => {
    let helm: Helm;

    beforeAll(async () => {
      helm = await startHelm(which);
    });

    const named = inGroups(cases).map((group) => [group.names.join('; '), group] as const);

    it.each(named)('are rejected with a message: %s', (_names, { values, sentences }) => {
      const { code, stdout, stderr } = template(helm, values);

      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      for (const sentence of sentences) expect(stderr).toContain(sentence);
      expect(stderr).not.toContain('canary');
    });

    it.each(Object.keys(accepted))('are accepted: %s', (name) => {
      const { code, stderr } = template(helm, accepted[name]);

      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    });
  });
}

/**
 * Puts cases that set different values of the chart into one document: a run of helm costs 0.1 s of CPU time, and it
 * reports everything that is wrong at once.
 */
export function inGroups(
  cases: readonly (readonly [name: string, values: Values, sentence: string])[],
): readonly Group[] {
  const groups: Group[] = [];
  for (const [name, values, sentence] of cases) {
    const index = groups.findIndex((group) => Object.keys(values).every((key) => !(key in group.values)));
    const group = groups[index] ?? { names: [], values: {}, sentences: [] };
    groups[index < 0 ? groups.length : index] = {
      names: [...group.names, name],
      values: { ...group.values, ...values },
      sentences: [...group.sentences, sentence],
    };
  }
  return groups;
}
