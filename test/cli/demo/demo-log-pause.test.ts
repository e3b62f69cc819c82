import { expect, it } from '@jest/globals';
import { createDemoLog } from '../../../src/cli/demo/demo-log.js';
import { Fixture } from '../../control/fixture.js';

it('logs a pause that sets 3 replicas, and the first change after it, with their reasons', async () => {
  const fixture = new Fixture();
  fixture.load = 90;
  let output = '';
  const stdout = { isTerminal: false, write: (text: string) => void (output += text) };
  const log = createDemoLog({ stdout, env: {}, clock: fixture.clock, command: 'promscaler' });
  fixture.cluster.annotations = { 'promscaler.dev/paused-replicas': '3' };
  log.printCycle(await fixture.cycle());
  fixture.cluster.annotations = {};
  fixture.load = 60;
  log.printCycle(await fixture.nextCycle());

  expect(output).toContain('5 -> 3     5 -> 3: paused by annotation, kept at 3 (9 recommended)\n');
  expect(output).toContain(
    '3 -> 6     resumed: load is at 12 per pod, 60 in total, target 10 per pod: 3 -> 6\n',
  );
});
