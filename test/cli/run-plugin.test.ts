import { describe, expect, it } from '@jest/globals';
import { pluginRunner } from '../../src/cli/run-plugin.js';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';

const run = (script: string, timeoutMs = 10_000, command = process.execPath) =>
  pluginRunner({ env: { ...process.env, OURS: 'o' }, clock: SYSTEM_CLOCK })({
    command,
    args: ['-e', script],
    env: { ITS: 'i' },
    timeoutMs,
  });

describe('pluginRunner', () => {
  it('gives standard output, with both environments and an empty standard input', async () => {
    const script = `process.stdin.on('data', () => {}).on('end', () => console.log(process.env.OURS + process.env.ITS))`;

    expect(await run(script)).toEqual({ kind: 'done', stdout: 'oi\n' });
  });

  it('tells the last line of standard error, cut off, and nothing of the arguments', async () => {
    const script = `console.error('first canary'); console.error('x'.repeat(300)); console.log('canary'); process.exit(3)`;

    const outcome = await run(script);

    expect(outcome).toEqual({
      kind: 'failed',
      why: `ended with 3: ${'x'.repeat(200)}...`,
      isMissing: false,
    });
  });

  it('ends a plugin that does not end', async () => {
    expect(await run('setInterval(() => {}, 1000)', 300)).toEqual({
      kind: 'failed',
      why: 'did not end within 0.3 s',
      isMissing: false,
    });
  });

  it('says of a program that is not there that it is missing', async () => {
    expect(await run('', 1000, '/nonexistent/login')).toEqual({
      kind: 'failed',
      why: 'is not there',
      isMissing: true,
    });
  });
});
