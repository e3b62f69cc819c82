import { describe, expect, it } from '@jest/globals';
import { decide } from '../../src/decision/decide.js';
import { snapshotToJson } from '../../src/decision/result/write-json.js';
import { parseSnapshot } from '../../src/decision/snapshot/parse-snapshot.js';
import { aDocument } from '../support/builders.js';

const CHANGED = '2026-01-01T00:58:30Z';

/** A queue with 3 messages for 15 replicas, at 01:00:00Z. */
function snapshotOf(spec: object, state: object): Readonly<Record<string, unknown>> {
  const external = {
    metric: { name: 'queue' },
    query: 'q',
    target: { averageValue: 1 },
    activation: { above: 5 },
  };
  return {
    scaler: aDocument({ scaleTargetRef: { name: 'web' }, maxReplicas: 20, metrics: [{ external }], ...spec }),
    now: '2026-01-01T01:00:00Z',
    target: { specReplicas: 15 },
    samples: [{ at: '2026-01-01T01:00:00Z', values: [3] }],
    state: { documentChangedAt: CHANGED, recommendations: [], ...state },
  };
}

describe('a decision after a change of the document', () => {
  const recommendedAt = (at: string): object => ({ recommendations: [{ at, replicas: 23 }] });

  it('says that the recommendation that it uses is from before the change', () => {
    const { reason } = decide(parseSnapshot(snapshotOf({}, recommendedAt('2026-01-01T00:58:00Z'))));

    expect(reason).toContain(
      '15 -> 20, 3 recommended, 23 by stabilization (23 was recommended at 2026-01-01T00:58:00Z and counts for 300 s, although the document changed at 2026-01-01T00:58:30Z), ',
    );
  });

  it('does not say so of a recommendation at or after the change', () => {
    const { reason } = decide(parseSnapshot(snapshotOf({}, recommendedAt(CHANGED))));

    expect(reason).toContain(
      ' by stabilization (23 was recommended at 2026-01-01T00:58:30Z and counts for 300 s), ',
    );
  });

  it('does not call the count at the first decision a recommendation', () => {
    const first = decide(parseSnapshot(snapshotOf({}, { recommendations: undefined })));
    const { recommendations } = first.state;
    const json = snapshotOf(
      {},
      { recommendations: recommendations?.map((one) => ({ ...one, at: CHANGED })) },
    );

    const text =
      /15 by stabilization \(the count at the first decision \(15 at .{20}\) stays in the window for 300 s\)/;
    expect(first.reason).toMatch(text);
    expect(decide(parseSnapshot(json)).reason).toMatch(text);
  });

  it('does not call it a recommendation either if the first decision had no full value of a metric', () => {
    const samples = [{ at: '2026-01-01T01:00:00Z', values: [3], partial: 'a target was not scraped' }];
    const first = decide(parseSnapshot({ ...snapshotOf({}, { recommendations: undefined }), samples }));
    const firstJson = snapshotToJson({ ...parseSnapshot(snapshotOf({}, {})), state: first.state });
    const next = { ...firstJson, now: '2026-01-01T01:00:15Z' };
    const later = { ...firstJson, now: '2026-01-01T01:05:01Z' };

    expect([first.recommendedReplicas, first.desiredReplicas]).toEqual([3, 15]);
    expect(decide(parseSnapshot(next)).reason).toContain(
      '15 by stabilization (the count at the first decision (15 at 2026-01-01T01:00:00Z) stays in the window for 300 s)',
    );
    expect(decide(parseSnapshot(later)).state.firstCountAt).toBeUndefined();
  });

  it('says in one sentence that the count of the first decision is from before the change', () => {
    const at = '2026-01-01T00:58:00Z';
    const recommendations = [15, 3].map((replicas) => ({ at, replicas }));

    expect(decide(parseSnapshot(snapshotOf({}, { recommendations }))).reason).toContain(
      'the count at the first decision (15 at 2026-01-01T00:58:00Z) stays in the window for 300 s, although the document changed at 2026-01-01T00:58:30Z',
    );
  });

  it('says that the cooldown began before the change', () => {
    const spec = { minReplicas: 0, downscaleStabilizationSeconds: 0, cooldownSeconds: 300 };
    const { reason } = decide(parseSnapshot(snapshotOf(spec, { inactiveSince: '2026-01-01T00:57:00Z' })));

    expect(reason).toContain(
      'not active since 2026-01-01T00:57:00Z, before the document changed at 2026-01-01T00:58:30Z (',
    );
  });

  it('says that decisions that confirm a scale-down were made before the change', () => {
    const spec = { downscaleStabilizationSeconds: 0, downscaleConfirmation: { decisions: 3, seconds: 300 } };
    const downscaleProposals = [{ at: '2026-01-01T00:58:00Z', replicas: 3 }];
    const { reason } = decide(parseSnapshot(snapshotOf(spec, { downscaleProposals })));

    expect(reason).toContain('of 300 s, before the document changed at 2026-01-01T00:58:30Z)');
  });

  it.each([
    ['while a recommendation from before it is in the window', '2026-01-01T00:58:00Z', true],
    ['not after that', '2026-01-01T00:54:59Z', false],
  ])('passes the time of the change on %s', (_, at, isKept) => {
    const { state } = decide(parseSnapshot(snapshotOf({}, recommendedAt(at))));

    expect(state.documentChangedAt !== undefined).toBe(isKept);
  });

  it('is the same for the JSON of its snapshot', () => {
    const snapshot = parseSnapshot(snapshotOf({}, recommendedAt('2026-01-01T00:58:00Z')));

    expect(decide(parseSnapshot(snapshotToJson(snapshot)))).toEqual(decide(snapshot));
  });
});
