import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, jest } from '@jest/globals';
import { CLI, E2E_TIMEOUT_MS, cpuDocument, itWhereAble, startWorld, waitFor } from './world.js';
import type { World } from './world.js';

jest.setTimeout(E2E_TIMEOUT_MS);

const run = promisify(execFile);

describe('a dry run next to an HPA', () => {
  let world: World;

  beforeAll(async () => {
    world = await startWorld([{ name: 'web', replicas: 2, load: 6 }]);
    await world.writeDocument('web.yaml', cpuDocument(world, 'web', '  dryRun: true\n'));
  });

  afterAll(() => world.close());

  // 6 times the request of a pod is 300 % of the requests of 2: 10 are recommended, and one step goes to 4. The HPA
  // wants its minimum of 2.
  itWhereAble(
    'hpa',
    'differs by +2 in the metric and in status, names the HPA and patches nothing',
    async () => {
      await world.addHpa('web', 2);
      const service = await world.startService();

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
      expect(line).toContain(`namespace="${world.namespace}"`);

      const cli = async (...args: readonly string[]): Promise<string> =>
        (await run(process.execPath, [CLI, ...args, '--url', service.url])).stdout;
      expect(await cli('status')).toMatch(
        / web .*DryRun .*would scale from 2 to 4; HorizontalPodAutoscaler \S+ wants 2/,
      );
      expect(await cli('explain', `${world.namespace}/web`)).toMatch(
        new RegExp(`Held +True .*DryRun: .*HorizontalPodAutoscaler ${world.namespace}/web scales the target`),
      );
      expect(await world.replicas('web')).toBe(2);
      expect(await world.changes('web')).toBe(0);
      expect(await service.stop()).toBe(0);
    },
  );
});
