import { describe, expect, it } from '@jest/globals';
import { remediesOf } from '../../src/decision/remedies.js';
import { named, read, remediesFor, serveStates } from './remedies-fixture.js';

const ROLLOUT = { target: { kind: 'Rollout', name: 'web' } };

describe('what to do about a scaler at its maximum', () => {
  serveStates();

  it('keeps 6 replicas, and is 6 replicas as the maximum in the file', async () => {
    const [meanwhile, edit] = remediesOf({
      ...(await read(named('more than the maximum'))),
      file: '/etc/promscaler/scalers/web.yaml',
    });

    expect(meanwhile?.snippet).toEqual({
      kind: 'command',
      text: expect.stringMatching(/^promscaler pause shop\/s\d+ --replicas 6 --for 30m$/),
    });
    expect(edit).toEqual({
      text: 'Raise spec.maxReplicas before the pause ends. In web.yaml, set',
      snippet: { kind: 'edit', text: 'maxReplicas: 6' },
    });
    expect((await remediesFor('more than the maximum')).at(-1)).toMatch(
      /the pause ends\. In the file of shop\/s\d+, set: maxReplicas: 6$/,
    );
  });

  it('is 6 replicas as a patch of the object', async () => {
    expect(await remediesFor('more than the maximum', { generation: 3 })).toEqual([
      expect.stringMatching(
        /^Raise .* recommended: kubectl patch -n shop scalers\.promscaler\.dev s\d+ --type=merge -p '\{"spec":\{"maxReplicas":6\}\}'$/,
      ),
    ]);
  });

  it('keeps at most twice the maximum, and only of a kind that can be paused', async () => {
    const what = 'more than the maximum';
    const { maxReplicas } = await read(named(what));

    const [many = '', raise] = await remediesFor(what, { recommendedReplicas: 5000 });
    const [other] = await remediesFor(what, ROLLOUT);
    const most = 2 * (maxReplicas ?? 0);
    expect(many).toContain(`--replicas ${most} `);
    expect(many).toContain(
      `Set ${most} replicas for 30 minutes, which is twice the maximum (pauses scaling): `,
    );
    expect(raise).toMatch(
      /^Check the metrics: 5000 replicas are recommended, more than 10 times the maximum: /,
    );
    expect(other).toMatch(/^Check what the metrics recommend: promscaler explain shop\/s\d+$/);
    expect((await remediesFor('another client, at the maximum', ROLLOUT)).at(-1)).toMatch(
      /^Stop scaling meanwhile\. In the file of shop\/s\d+, set: paused: true$/,
    );
  });

  // A lower maximum would be reached again in the next cycle.
  it.each([
    [8, /^Raise spec\.maxReplicas: 8 replicas are recommended: .*'\{"spec":\{"maxReplicas":8\}\}'$/],
    [9, /^If the metric is right, raise spec\.maxReplicas to 9: .*'\{"spec":\{"maxReplicas":9\}\}'$/],
    [40, /^If the metric is right, raise spec\.maxReplicas to 40: .*'\{"spec":\{"maxReplicas":40\}\}'$/],
    // One command must not start hundreds of pods because the value of a metric is too high.
    [
      41,
      /^Check the metrics: 41 replicas are recommended, more than 10 times the maximum: promscaler doctor/,
    ],
  ])('at %i recommended replicas and a maximum of 4, holds the recommendation', async (recommended, text) => {
    const changes = { generation: 3, recommendedReplicas: recommended };

    const remedies = await remediesFor('more than the maximum', changes);

    expect(remedies).toEqual([expect.stringMatching(text)]);
  });

  it.each([
    [
      7,
      /^Raise spec\.maxReplicas to 7: 6 replicas are recommended now, 7 in the stab.*"maxReplicas":7\}\}'$/,
    ],
    [10, /^If the metric is right, raise spec\.maxReplicas to 10: 6 replicas .*"maxReplicas":10\}\}'$/],
    [41, /^Raise spec\.maxReplicas: 6 replicas are recommended: .*"maxReplicas":6\}\}'$/],
  ])('holds the %i replicas of a stabilization window, unless far too many', async (to, text) => {
    const decision = { limits: [{ limit: 'stabilization', to, reason: '' }] };

    expect((await remediesFor('more than the maximum', { generation: 3, decision }))[0]).toMatch(text);
  });

  it.each([
    [
      7,
      7,
      'Raise spec.maxReplicas before the pause ends: 6 replicas are recommended now, 7 in the stabilization window',
    ],
    [
      10,
      8,
      'If the metric is right, raise spec.maxReplicas to 10: 6 replicas are recommended now, 10 in the stabilization window',
    ],
    [41, 6, 'Raise spec.maxReplicas before the pause ends'],
  ])(
    'holds the %i replicas of a stabilization window in a file, and %i in a pause',
    async (to, paused, text) => {
      const decision = { limits: [{ limit: 'stabilization', to, reason: '' }] };

      const [meanwhile, raise] = await remediesFor('more than the maximum', { file: 'web.yaml', decision });

      expect(meanwhile).toContain(` --replicas ${paused} `);
      expect(raise).toBe(`${text}. In web.yaml, set: maxReplicas: ${to === 41 ? 6 : to}`);
    },
  );

  it('holds the replicas of a stabilization window in a file of a kind that cannot be paused', async () => {
    const decision = { limits: [{ limit: 'stabilization', to: 7, reason: '' }] };

    expect(
      (await remediesFor('more than the maximum', { ...ROLLOUT, file: 'web.yaml', decision })).at(-1),
    ).toBe(
      'Raise spec.maxReplicas to 7: 6 replicas are recommended now, 7 in the stabilization window. In web.yaml, set: maxReplicas: 7',
    );
  });

  it('is the query of maxReplicasFrom, not a higher maximum, if its ceiling is below the maximum', async () => {
    const queries = [{ path: 'spec.maxReplicasFrom', query: 'vacant', graphUrl: null }];
    const atMaximum = { document: { spec: { maxReplicas: 4 } }, queries };

    expect(await remediesFor('more than a ceiling', { queries })).toEqual([
      'Raise the value of spec.maxReplicasFrom: 6 replicas are recommended: vacant',
    ]);
    expect((await remediesFor('more than the maximum', atMaximum)).at(-1)).toMatch(
      /^Raise spec.maxReplicas before the pause ends\. /,
    );
  });
});
