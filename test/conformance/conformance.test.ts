import { describe, expect, it } from '@jest/globals';
import { EXCEPTIONS } from './exceptions.js';
import { type Verdict, judge, summary } from './judge.js';
import { REQUESTS } from './requests/all.js';

/** Statuses of unsupported requests. */
const REFUSALS: readonly number[] = [405, 406, 415, 501];

describe('the simulator and a recorded kube-apiserver 1.36', () => {
  let verdicts: Promise<readonly Verdict[]> | null = null;
  const verdictOf = async (name: string): Promise<Verdict | undefined> => {
    verdicts ??= judge(new URL('./', import.meta.url));
    return (await verdicts).find((verdict) => verdict.name === name);
  };
  const compared = REQUESTS.filter(({ setUp }) => setUp !== true).map(({ name }) => name);
  const names = compared.filter((name) => !Object.hasOwn(EXCEPTIONS, name));

  it.each(names)('agree on %s', async (name) => {
    expect((await verdictOf(name))?.differences).toEqual([]);
  });

  for (const [name, reason] of Object.entries(EXCEPTIONS)) {
    it(`differ on ${name}, which is an exception: ${reason}`, async () => {
      const verdict = await verdictOf(name);

      expect(verdict?.differences).not.toEqual([]);
      expect(REFUSALS).toContain(verdict?.status);
    });
  }

  it('are compared by 91 requests, and agree on all that are not exceptions', async () => {
    await verdictOf('');

    expect(summary((await verdicts) ?? [])).toBe(
      `${91 - Object.keys(EXCEPTIONS).length} of 91 answers have the shape that kube-apiserver 1.36 gave them`,
    );
  });
});
