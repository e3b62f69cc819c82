import { describe, expect, it } from '@jest/globals';
import { checkPods } from '../../../src/cli/checks/pods.js';
import type { CheckResult, Checked } from '../../../src/cli/checks/check-result.js';
import type { OwnedPod, ScalerFacts } from '../../../src/cli/checks/scaler-facts.js';
import type { ClusterPod } from '../../../src/kubernetes/api/types.js';
import { addSeconds } from '../../../src/units/time.js';
import { aPod, at, scalerOf } from '../../support/builders.js';
import { ManualClock } from '../../support/manual-clock.js';
import { resultsOf } from '../../../src/cli/checks/check-result.js';

const PENDING = { phase: 'Pending', ready: false, startTime: null } as const;
const READY = { ready: true, startTime: at(0), readyChangedAt: at(0) } as const;

/** Returns the result for pods with these fields and ages in seconds. */
function check(
  pods: readonly (readonly [ageSeconds: number, Partial<ClusterPod>])[],
  podStart?: object,
): CheckResult | undefined {
  const clock = new ManualClock();
  const scaler = scalerOf({
    scaleTargetRef: { name: 'web' },
    maxReplicas: 12,
    metrics: [{ external: { metric: { name: 'm' }, query: 'sum(m)', target: { value: 1 } } }],
    ...(podStart === undefined ? {} : { podStart }),
  });
  const owned = pods.map(([ageSeconds, fields], index): Partial<OwnedPod> => ({
    name: `web-${index}`,
    pod: aPod(`web-${index}`, fields),
    workload: { kind: 'Deployment', name: 'web' },
    createdAt: addSeconds(clock.now(), -ageSeconds),
  }));
  const target = {
    ref: scaler.spec.scaleTargetRef,
    namespace: 'shop',
    selector: [],
    specReplicas: pods.length,
  };
  const make = resultsOf('pods', 'shop/web');
  const facts = { scaler, cluster: { target, pods: owned }, context: { clock }, sources: new Map(), make };
  // Only what the check reads.
  return checkPods(facts as unknown as Checked<ScalerFacts>);
}

describe('pods that start', () => {
  it('are no problem below an age of 300 s', () => {
    expect(
      check([
        [0, READY],
        [299, PENDING],
      ]),
    ).toMatchObject({
      status: 'ok',
      message: '1 of 2 pods are ready, and 1 is starting',
    });
    expect(
      check([
        [5, PENDING],
        [5, { ...PENDING, phase: 'Running' }],
      ]),
    ).toMatchObject({
      status: 'ok',
      message: 'none of the 2 pods is ready, and 2 are starting',
    });
  });

  it('are a warning from 300 s on, with what to look at', () => {
    expect(
      check([
        [600, READY],
        [300, PENDING],
      ]),
    ).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('1 of 2 pods of deployment shop/web is Pending'),
      fix: expect.stringContaining('kubectl describe pod -n shop web-1'),
    });
    expect(
      check([
        [5, PENDING],
        [300, { ...PENDING, phase: 'Running' }],
      ]),
    ).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('none of the 2 pods of deployment shop/web is ready'),
    });
  });

  it('may take the longer podStart.seconds of the document', () => {
    const podStart = { seconds: 420 };

    expect(
      check(
        [
          [0, READY],
          [419, PENDING],
        ],
        podStart,
      )?.status,
    ).toBe('ok');
    expect(
      check(
        [
          [0, READY],
          [420, PENDING],
        ],
        podStart,
      )?.status,
    ).toBe('warning');
  });

  it.each([
    ['unschedulable', 'cpu'],
    ['waiting', 'ImagePullBackOff'],
  ] as const)('are a warning at once if %s: %s', (kind, why) => {
    const trouble = { kind, why };

    expect(
      check([
        [0, READY],
        [5, { ...PENDING, trouble }],
      ])?.status,
    ).toBe('warning');
    expect(check([[5, { ...PENDING, trouble }]])?.status).toBe('warning');
  });
});
