import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest } from '@jest/globals';
import { runKubectl } from '../support/kubectl.js';
import { CLI, E2E_TIMEOUT_MS, cpuDocument, itWhereAble, startFixture, waitFor } from './fixture.js';
import type { Fixture } from './fixture.js';

jest.setTimeout(E2E_TIMEOUT_MS);

describe('documents that are objects of the cluster', () => {
  let fixture: Fixture;

  beforeAll(async () => {
    fixture = await startFixture([{ name: 'web', replicas: 2, load: 6 }]);
  });

  afterAll(() => fixture.close());

  /** Runs the real kubectl and returns standard output. Throws with its error output if it fails. */
  async function kubectl(line: string, input = ''): Promise<string> {
    const args = [...line.split(' '), '-n', fixture.namespace];
    const { code, stdout, stderr } = await runKubectl(args, {
      kubeconfig: fixture.kubeconfig,
      home: fixture.folder,
      input,
      timeoutMs: 60_000,
    });
    if (code !== 0) throw new Error(`kubectl ${line}: ${stderr}`);
    return stdout;
  }

  itWhereAble(
    'objects',
    'are applied, scale, are waited for, are rejected if invalid, and are deleted',
    async () => {
      const config = await readFile(join(fixture.folder, 'promscaler.yaml'), 'utf8');
      const file = join(fixture.folder, 'with-objects.yaml');
      await writeFile(file, `${config}scalers: { paths: [], customResources: true }\n`);
      // On a cluster the run has created the definition: it outlives this test.
      if (fixture.simulator !== null)
        await kubectl(
          'apply -f -',
          execFileSync(process.execPath, [CLI, 'schema', '--crd'], { encoding: 'utf8' }),
        );
      const service = await fixture.startService(['--config', file]);

      await kubectl('apply -f -', cpuDocument(fixture, 'web'));
      await kubectl('wait --for=condition=Ready scaler/web --timeout=60s');
      // 6 times the request of a pod is 60 % of the requests of 10 pods.
      await waitFor(async () => (await fixture.replicas('web')) >= 10, { what: '10 replicas' });
      await waitFor(
        async () =>
          /^web +Deployment\/web +cpu: \d+%\/60% +2 +12 +1[0-2] +1[0-2] +[A-Z][A-Za-z]+ /m.test(
            await kubectl('get scaler web'),
          ),
        {
          what: 'kubectl get to show the counts',
        },
      );

      await kubectl(
        'apply -f -',
        cpuDocument(
          fixture,
          'web',
          '  schedules: [{ name: x, dates: [{ start: a, end: b }], minReplicas: 3 }]\n',
        ),
      );
      await kubectl('wait --for=condition=Accepted=false scaler/web --timeout=30s');
      expect(await kubectl('describe scaler web')).toContain('the last valid version stays in effect');
      expect(await service.metrics('promscaler_current_replicas{', 'scaler="web"')).toHaveLength(1);

      await kubectl('delete scaler web');
      await waitFor(async () => (await service.metrics('scaler="web"')).length === 0, {
        what: 'the scaler to go',
      });
      expect(await fixture.replicas('web')).toBeGreaterThanOrEqual(10);
      expect(await service.stop()).toBe(0);
    },
  );
});
