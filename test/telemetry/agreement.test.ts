import { describe, expect, it } from '@jest/globals';
import { createLedger } from '../../src/telemetry/ledger.js';
import type { Shadow } from '../../src/telemetry/cycle-record.js';
import { cpuSnapshot, recordOf, scalerDocument } from '../cli/live-service.js';

const BESIDE = 'HorizontalPodAutoscaler shop/web';

function shadow(difference: number, beside = BESIDE): Shadow {
  return { beside, theirReplicas: 4, difference };
}

/** The agreement after these cycles. */
function agreementOf(
  cycles: readonly (Shadow | undefined)[],
  snapshots: readonly object[] = cycles.map(() => cpuSnapshot(60)),
): unknown {
  const ledger = createLedger();
  for (const [index, one] of cycles.entries()) ledger.add(recordOf(snapshots[index], { shadow: one }));
  return ledger.get('shop/web')?.agreement;
}

describe('the agreement of a dry run with an HPA', () => {
  it('counts compared cycles, those with the same count, and the last one of the largest differences', () => {
    const cycles = [undefined, shadow(0), shadow(-2), shadow(1), undefined, shadow(2), shadow(0)];

    expect(agreementOf(cycles)).toMatchObject({
      beside: BESIDE,
      rounds: 5,
      same: 2,
      largest: { desiredReplicas: 6, theirReplicas: 4, reason: expect.stringMatching(/./) },
    });
  });

  it('is unknown without a compared cycle', () => {
    expect(agreementOf([undefined, undefined])).toBeNull();
  });

  it('starts again next to another HPA', () => {
    const other = 'ScaledObject shop/web';

    expect(agreementOf([shadow(1), shadow(0, other)])).toMatchObject({
      beside: other,
      rounds: 1,
      same: 1,
      largest: null,
    });
  });

  it('starts again with another spec, not with a new object of the same', () => {
    const changed = cpuSnapshot(60, { scaler: scalerDocument({ maxReplicas: 11 }) });
    const same = [cpuSnapshot(60), cpuSnapshot(60)];

    expect(agreementOf([shadow(0), shadow(0)], same)).toMatchObject({ rounds: 2 });
    expect(agreementOf([shadow(0), shadow(0)], [cpuSnapshot(60), changed])).toMatchObject({ rounds: 1 });
  });
});
