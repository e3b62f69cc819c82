import { describe, expect, it } from '@jest/globals';
import { folderOf, runCli } from '../cli/fake-io.js';
import { importOne } from './importing.js';
import { prometheus, scaledObject, triggers } from './scaled-objects.js';

const HALF = '[{ type: Percent, value: 50, periodSeconds: 60 }]';
const ONE = '[{ type: Pods, value: 1, periodSeconds: 60 }]';

const importWith = (cooldown: number, window: number, policies: string): ReturnType<typeof importOne> =>
  importOne(
    scaledObject(`maxReplicaCount: 20
cooldownPeriod: ${cooldown}
advanced:
  horizontalPodAutoscalerConfig:
    behavior: { scaleDown: { stabilizationWindowSeconds: ${window}, policies: ${policies} } }
${triggers(prometheus('', 'name: depth,'))}`),
  );

/** Runs the document with a load for 20 replicas in the first round and none in the following ones. */
async function isMet(text: string, replicas: number, expectations: string): Promise<string> {
  const test = `scalers: [it.yaml]
tests:
  - name: after the last activity
    interval: 15s
    replicas: ${replicas}
    series: [{ metric: depth, values: ${30 * replicas} 0x200 }]
    expect: [${expectations}]
`;
  return (
    await runCli(['test', 'it.test.yaml'], { cwd: folderOf({ 'it.yaml': text, 'it.test.yaml': test }) })
  ).stdout;
}

// pkg/scaling/executor/scale_scaledobjects.go, RequestScale: an inactive workload gets idleReplicaCount
it('an import with idleReplicaCount 0 and a minimum of 2 loses the threshold and the cooldown, which KEDA applies', () => {
  const { spec, lost } = importOne(
    scaledObject(
      `idleReplicaCount: 0\nminReplicaCount: 2\ncooldownPeriod: 60\n${triggers(prometheus(', activationThreshold: "5"'))}`,
    ),
  );

  expect(spec).toEqual({
    scaleTargetRef: { name: 'worker' },
    minReplicas: 2,
    maxReplicas: 100,
    metrics: [expect.anything()],
  });
  expect(lost.map((line) => line.replace(/^.*? (?=spec\.)/, ''))).toEqual([
    'spec.idleReplicaCount is 0: promscaler has no separate count for an idle workload and keeps at least 2',
    'spec.triggers[0].metadata.activationThreshold is "5": while no value is above this threshold, KEDA sets idleReplicaCount (0); promscaler keeps at least 2',
    'spec.cooldownPeriod is 60: KEDA sets idleReplicaCount (0) after this time, but promscaler has no idle count',
  ]);
});

describe('the comment on cooldownPeriod names the time until 0 replicas, which a test of the document confirms:', () => {
  it.each([
    ['half of the pods per minute', 120, 240, HALF, 480],
    ['one pod per minute', 300, 300, ONE, 1440],
    ['half of the pods per minute without stabilization', 60, 0, HALF, 255],
  ])('%s, %i s and %i s', async (_, cooldown, window, policies, seconds) => {
    const { text, lost } = importWith(cooldown, window, policies);
    const fromOne = Math.max(cooldown, window);

    expect(lost).toEqual([
      expect.stringContaining(
        `spec.cooldownPeriod is ${cooldown}: KEDA sets 0 replicas ${cooldown} s after the last activity, in one step from any replica count. promscaler sets 0 replicas after ${fromOne} s from 1 replica, and after ${seconds} s from 20 replicas, because behavior.scaleDown also applies to this step`,
      ),
    ]);
    expect(
      await isMet(text, 20, `{ at: ${seconds - 15}s, replicas: 1 }, { at: ${seconds}s, replicas: 0 }`),
    ).toContain('1 passed');
    expect(await isMet(text, 1, `{ at: ${fromOne + 15}s, replicas: 0 }`)).toContain('1 passed');
  });

  it('half of the pods per minute within a cooldown of 900 s delay nothing', async () => {
    const { text, lost } = importWith(900, 300, HALF);

    expect(lost).toEqual([]);
    expect(await isMet(text, 20, '{ at: 885s, replicas: 1 }, { at: 900s, replicas: 0 }')).toContain(
      '1 passed',
    );
  });
});
