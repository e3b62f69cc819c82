import { describe, expect, it } from '@jest/globals';
import { decide } from '../../src/decision/decide.js';
import { parseSnapshot } from '../../src/decision/parse-snapshot.js';
import { aDocument } from '../support/builders.js';

/** The reason for pods that request one core each and run since an hour; each uses `usage` cores, null: no sample. */
function reasonOf(pods: readonly { readonly usage: number | null; readonly ready: boolean }[]): string {
  const startTime = '2026-01-01T00:00:00Z';
  const since = '2026-01-01T00:00:10Z';
  const measured = pods.flatMap(({ usage }, index) =>
    usage === null ? [] : [[`web-${index}`, { app: usage }] as const],
  );
  const snapshot = {
    scaler: aDocument({ scaleTargetRef: { name: 'web' }, maxReplicas: 10 }),
    now: '2026-01-01T01:00:00Z',
    target: { specReplicas: pods.length, statusReplicas: pods.length },
    pods: pods.map(({ ready }, index) => ({
      name: `web-${index}`,
      phase: 'Running',
      startTime,
      ready,
      readyChangedAt: since,
      requests: { app: { cpu: '1' } },
    })),
    samples: [{ at: '2026-01-01T01:00:00Z', windowSeconds: 60, containers: Object.fromEntries(measured) }],
  };
  return decide(parseSnapshot(snapshot)).reason;
}

describe('the reason of a decision', () => {
  it('names no pods where all of them count', () => {
    expect(
      reasonOf([
        { usage: 0.8, ready: true },
        { usage: 0.8, ready: true },
      ]),
    ).toBe('cpu is at 80 % of the requests, target 80 %: stays at 2');
  });

  it('says how many pods are unready and missing, which is why 120 % of 80 % asks for no more', () => {
    expect(
      reasonOf([
        { usage: 1.2, ready: true },
        { usage: 1.2, ready: false },
        { usage: null, ready: true },
      ]),
    ).toBe('cpu is at 120 % of the requests, target 80 %, 1 pod unready, 1 pod missing: stays at 3');
  });
});
