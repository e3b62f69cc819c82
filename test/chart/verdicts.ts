import { beforeAll, describe, expect, it } from '@jest/globals';
import { HELMS, startHelm, template } from './helm.js';
import type { Helm, Values } from './helm.js';

/** Values by their case; each rejected one with a part of the message. */
export interface Verdicts {
  readonly refused: Readonly<Record<string, readonly [values: Values, sentence: string]>>;
  readonly accepted: Readonly<Record<string, Values>>;
}

/**
 * Tests that each helm rejects or accepts these values. No secret of the values, which are all named canary, is
 * printed.
 */
export function describeVerdicts(title: string, { refused, accepted }: Verdicts): void {
  describe.each(HELMS)(`${title}, with %s`, (which) => {
    let helm: Helm;

    beforeAll(async () => {
      helm = await startHelm(which);
    });

    it.each(Object.keys(refused))('are rejected with a message: %s', (name) => {
      const [values, sentence] = refused[name] ?? [{}, ''];
      const { code, stdout, stderr } = template(helm, values);

      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toContain(sentence);
      expect(stderr).not.toContain('canary');
    });

    it.each(Object.keys(accepted))('are accepted: %s', (name) => {
      const { code, stderr } = template(helm, accepted[name]);

      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    });
  });
}
