import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, jest } from '@jest/globals';
import { CLI, E2E_TIMEOUT_MS, cpuDocument, itWhereAble, startFixture, waitFor } from './fixture.js';
import type { Fixture } from './fixture.js';

jest.setTimeout(E2E_TIMEOUT_MS);

const run = promisify(execFile);

describe('a dry run next to an HPA', () => {
  let fixture: Fixture;

  beforeAll(async () => {
    fixture = await startFixture([{ name: 'web', replicas: 2, load: 6 }]);
    await fixture.writeDocument('web.yaml', cpuDocument(fixture, 'web', '  dryRun: true\n'));
  });

  afterAll(() => fixture.close());

  // 6 times the request of a pod is 300 % of the requests of 2: 10 are recommended, and one step goes to 4. The HPA
  // wants its minimum of 2.
  itWhereAble(
    'hpa',
    'differs by +2 in the metric and in status, names the HPA and patches nothing',
    async () => {
      await fixture.addHpa('web', 2);
      const service = await fixture.startService();

      const [line] = await waitFor(
        async () => {
          const lines = await service.metrics(
            'promscaler_shadow_difference_replicas{',
            'scaler="web"',
            '} 2',
          );
          return lines.length > 0 && lines;
        },
        { what: 'a difference of 2' },
      );
      expect(line).toContain(`namespace="${fixture.namespace}"`);

      const cli = async (...args: readonly string[]): Promise<string> =>
        (await run(process.execPath, [CLI, ...args, '--url', service.url])).stdout;
      expect(await cli('status')).toMatch(
        / web .*DryRun .*would scale from 2 to 4; HorizontalPodAutoscaler \S+ has 2 desired replicas/,
      );
      expect(await cli('explain', `${fixture.namespace}/web`)).toMatch(
        new RegExp(
          `Held +True .*DryRun: .*HorizontalPodAutoscaler ${fixture.namespace}/web scales the target`,
        ),
      );
      expect(await fixture.replicas('web')).toBe(2);
      expect(await fixture.changes('web')).toBe(0);
      expect(await service.stop()).toBe(0);
    },
  );
});
