import { expect, it } from '@jest/globals';
import { createDemoLog } from '../../../src/cli/demo/demo-log.js';
import { World } from '../../control/world.js';

it('logs a pause that sets 3 replicas, and the first change after it, with their reasons', async () => {
  const world = new World();
  world.load = 90;
  let output = '';
  const stdout = { isTerminal: false, write: (text: string) => void (output += text) };
  const log = createDemoLog({ stdout, env: {}, clock: world.clock });
  world.cluster.annotations = { 'promscaler.dev/paused-replicas': '3' };
  log.printCycle(await world.cycle());
  world.cluster.annotations = {};
  world.load = 60;
  log.printCycle(await world.nextCycle());

  expect(output).toContain('5 -> 3     5 -> 3: paused by annotation, kept at 3 (9 recommended)\n');
  expect(output).toContain(
    '3 -> 6     resumed: load is at 12 per pod, 60 in total, target 10 per pod: 3 -> 6\n',
  );
});
