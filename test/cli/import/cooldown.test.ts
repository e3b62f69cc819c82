import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { scaledObject, triggers, prometheus } from '../../importers/scaled-objects.js';
import { folderOf, runCli } from '../fake-io.js';

/** Imports a ScaledObject, and tests its document with a queue that is empty from 60 s on, with 4 replicas. */
async function outcomeOf(
  fields: string,
  expected: readonly (readonly [atSeconds: number, replicas: number])[],
): Promise<{ readonly remarks: string; readonly failures: string }> {
  const cwd = folderOf({
    'so.yaml': scaledObject(`${fields}\n${triggers(prometheus('', 'name: queue,'))}`),
    'x.test.yaml': `scalers: [x.yaml]
tests:
  - name: to 0 replicas
    replicas: 4
    interval: 15s
    series: [{ metric: queue, values: 100x3 0x80 }]
    expect:
${expected.map(([at, replicas]) => `      - { at: ${at}s, replicas: ${replicas} }`).join('\n')}
`,
  });
  const { stdout, stderr } = await runCli(['import', 'so.yaml'], { cwd });
  writeFileSync(join(cwd, 'x.yaml'), stdout);
  const { exitCode, stdout: result } = await runCli(['test', 'x.test.yaml'], { cwd });
  return { remarks: stderr, failures: exitCode === 0 ? '' : result };
}

describe('cooldownPeriod of an imported ScaledObject, last active at 45 s', () => {
  it.each([
    ['300 s by default, with 300 s of stabilization: 0 replicas at 345 s', '', 4, 345],
    ['600 s: 1 replica after the stabilization, 0 at 645 s', 'cooldownPeriod: 600', 1, 645],
    [
      '180 s with a stabilization of 60 s: 1 replica, and 0 at 225 s',
      `cooldownPeriod: 180
advanced: { horizontalPodAutoscalerConfig: { behavior: { scaleDown: { stabilizationWindowSeconds: 60 } } } }`,
      1,
      225,
    ],
  ])('%s', async (_, fields, before, atSeconds) => {
    const { remarks, failures } = await outcomeOf(fields, [
      [atSeconds - 15, before],
      [atSeconds + 15, 0],
    ]);

    expect({ remarks, failures }).toEqual({ remarks: '', failures: '' });
  });

  it('below the stabilization says that the last replica stays longer', async () => {
    const { remarks, failures } = await outcomeOf('cooldownPeriod: 60', [
      [330, 4],
      [360, 0],
    ]);

    expect(remarks).toBe(
      'so.yaml: ScaledObject shop/worker: spec.cooldownPeriod is 60: KEDA sets 0 replicas 60 s after the last activity, but promscaler sets 0 replicas after 300 s, because the downscale stabilization also applies to this step\n',
    );
    expect(failures).toBe('');
  });
});
