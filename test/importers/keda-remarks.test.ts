import { describe, expect, it } from '@jest/globals';
import { importOne } from './importing.js';
import { prometheus, scaledObject, triggers } from './scaled-objects.js';

describe('the remark on a fallback', () => {
  const remarkOf = (behavior: string, trigger: string): string => {
    const fallback = `fallback: { failureThreshold: 3, replicas: 6, behavior: ${behavior} }`;
    const { text } = importOne(scaledObject(`${fallback}\n${triggers(prometheus(), trigger)}`));
    return /# spec\.fallback ([^]*?)\n +fallback:/.exec(text)?.[1]?.replace(/\n +# /g, ' ') ?? '';
  };
  const CPU = '{ type: cpu, metricType: Utilization, metadata: { value: "50" } }';

  it.each([
    [
      'static',
      prometheus('', 'name: b,'),
      /^is converted to seconds: .*\. mode: exact may .* atLeast would not\.$/,
    ],
    [
      'currentReplicasIfHigher',
      prometheus('', 'name: b,'),
      /^is converted to seconds: KEDA counts one failure every 15 s\.$/,
    ],
    [
      'currentReplicasIfHigher',
      CPU,
      /15 s\. In promscaler, the fallback also applies to cpu, memory and .*; in KEDA, it does not\.$/,
    ],
    ['currentReplicasIfHigher', prometheus('', 'metricType: Value,'), /; in KEDA, it does not\.$/],
  ])('%s names what applies to it and its triggers', (behavior, trigger, expected) => {
    expect(remarkOf(behavior, trigger)).toMatch(expected);
  });
});

describe('what KEDA applies only to the step to 0 replicas', () => {
  const lines = 'initialCooldownPeriod: 60\n';
  const forced = { annotations: '{ autoscaling.keda.sh/force-activation: "true" }' };

  it('is a loss with minReplicaCount 0', () => {
    const { lost } = importOne(scaledObject(`${lines}${triggers(prometheus())}`, forced));

    expect(lost).toEqual(
      expect.arrayContaining([
        expect.stringContaining(
          'spec.initialCooldownPeriod is 60, which has no equivalent: KEDA scales to 0 only',
        ),
        expect.stringContaining('set minReplicas to 1 as long as the annotation is set'),
      ]),
    );
  });

  it('is none with minReplicaCount 2, where KEDA does not apply it', () => {
    const { lost, text } = importOne(
      scaledObject(`minReplicaCount: 2\n${lines}${triggers(prometheus())}`, forced),
    );

    expect(lost).toEqual([]);
    expect(text).toContain('is 60, which has no effect: KEDA applies it only to the step to 0 replicas.');
    expect(text).toMatch(/force-activation"\] is set, but has no effect: KEDA applies it only with\n/);
  });
});

describe('a ScaledObject with idleReplicaCount: 0', () => {
  it('and a minimum of 1 is one that scales to 0: both start with 1 replica', () => {
    const { spec, lost } = importOne(
      scaledObject(
        `minReplicaCount: 1\nidleReplicaCount: 0\n${triggers(prometheus(', ignoreNullValues: "false"'))}`,
      ),
    );

    expect(lost).toEqual([]);
    expect(spec).toMatchObject({ minReplicas: 0, metrics: [{ external: { activation: { above: 0 } } }] });
  });
});
