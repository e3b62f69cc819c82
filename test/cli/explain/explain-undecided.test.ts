import { afterEach, describe, expect, it } from '@jest/globals';
import { createLedger } from '../../../src/telemetry/ledger.js';
import { condition } from '../../telemetry/record-builder.js';
import { runCli } from '../fake-io.js';
import { appOf, cpuSnapshot, listen, type Listening, recordOf } from '../live-service.js';

describe('explain of a scaler without a decision', () => {
  let service: Listening | null = null;

  afterEach(() => service?.close());

  it('prints why there is no decision, and what to do about it', async () => {
    const ledger = createLedger();
    const message = 'not found; did you mean "checkout"?';
    const failed = condition({ status: 'False', reason: 'FailedGetScale', message });
    const targetFailure = {
      absence: 'missing',
      suggestion: { kind: null, name: 'checkout' },
      unusableKind: null,
    } as const;
    const unread = { snapshot: null, decision: null, conditions: [failed], targetFailure };
    ledger.add(recordOf(cpuSnapshot(83), unread));
    service = await listen(appOf(ledger));

    const { exitCode, stderr } = await runCli(['explain', 'shop/web', '--url', service.url]);

    expect([exitCode, stderr]).toEqual([
      1,
      `promscaler: the last cycle of shop/web made no decision: FailedGetScale: ${message}

What to do
  Correct the name of the target. In the file of shop/web, set: spec.scaleTargetRef.name: checkout
  Create the Deployment web, or correct spec.scaleTargetRef or the namespace:
    kubectl get -A deployment,statefulset
`,
    ]);
  });

  it('names the selector because of which there is no decision, not the forbidden window of an earlier one', async () => {
    const ledger = createLedger();
    const window = condition({ status: 'False', reason: 'BackoffBoth', message: 'wait' });
    const unread = condition({
      type: 'ScalingActive',
      status: 'False',
      reason: 'InvalidSelector',
      message: 'no',
    });
    ledger.add(recordOf(cpuSnapshot(83), { conditions: [window] }));
    ledger.add(recordOf(cpuSnapshot(83), { snapshot: null, decision: null, conditions: [unread] }));
    service = await listen(appOf(ledger));

    const { stderr } = await runCli(['explain', 'shop/web', '--url', service.url]);

    expect(stderr).toContain('the last cycle of shop/web made no decision: InvalidSelector: no\n');
  });
});
