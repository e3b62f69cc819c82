import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { SYSTEM_CLOCK } from '../../../../src/cli/system-clock.js';
import { startChild, type Child, runCommand } from '../../../../src/cli/demo/programs/child-process.js';
import type { Clock } from '../../../../src/units/clock.js';
import { eventually } from '../../../support/manual-clock.js';

/** Every timer fires after 50 ms, so that a timeout of 5 s ends soon. */
const HASTY_CLOCK: Clock = { ...SYSTEM_CLOCK, after: (_ms, callback) => SYSTEM_CLOCK.after(50, callback) };

describe('startChild', () => {
  it('quotes the last 3 lines of standard error when the program ends', async () => {
    const child = shell('for i in 1 2 3 4; do echo "line $i" >&2; done; exit 7');

    expect(await child.ended).toBe('the shell ended with code 7: line 2; line 3; line 4');
    expect(child.endedSignal.aborted).toBe(true);
  });

  it.each([
    ['exit 0', 'the shell ended with code 0'],
    ['kill -TERM $$', 'the shell ended by SIGTERM'],
    ['kill -ABRT $$', 'the shell ended by SIGABRT: an old warning'],
  ])('quotes only lines that may say why it has ended: %s', async (last, expected) => {
    const child = shell(`echo "an old warning" >&2; ${last}`);

    expect(await child.ended).toBe(expected);
  });

  it('reports the signal that ended a program', async () => {
    const child = shell('exec sleep 60');

    child.signal('SIGKILL');

    expect(await child.ended).toBe('the shell ended by SIGKILL');
  });

  it('stops a program that handles SIGTERM, and may be called for a stopped one', async () => {
    const child = shell('exec sleep 60');

    await child.stop();
    await child.stop();

    expect(await child.ended).toBe('the shell ended by SIGTERM');
  });

  it('kills a program that ignores SIGTERM after the timeout', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'promscaler-child-'));
    const child = shell(`trap "" TERM; : > ${directory}/deaf; exec sleep 60`, HASTY_CLOCK);
    await eventually(() => existsSync(join(directory, 'deaf')), 'the trap');
    await rm(directory, { recursive: true });

    await child.stop();

    expect(await child.ended).toBe('the shell ended by SIGKILL');
  });

  it('passes exactly the given environment to the program', async () => {
    const child = startChild({
      title: 'the shell',
      file: '/bin/sh',
      args: ['-c', 'echo "$ONE,$HOME" >&2; exit 1'],
      env: { ONE: '1' },
      clock: SYSTEM_CLOCK,
    });

    expect(await child.ended).toBe('the shell ended with code 1: 1,');
  });
});

describe('runCommand', () => {
  it('returns standard output', async () => {
    expect(await run('echo out; echo err >&2')).toBe('out\n');
  });

  it('throws with the error output of the program', async () => {
    await expect(run('echo a; echo "E: no such package" >&2; exit 100')).rejects.toThrow(
      '/bin/sh -c: E: no such package',
    );
  });

  it('ends the program after the timeout, and reports that', async () => {
    await expect(run('exec sleep 60', HASTY_CLOCK)).rejects.toThrow('/bin/sh -c: timeout after 20000 ms');
  });

  it('reports that the program does not exist', async () => {
    const context = { env: {}, clock: SYSTEM_CLOCK };

    await expect(
      runCommand(context, { file: '/nowhere/x', args: [], directory: '/', timeoutMs: 20_000 }),
    ).rejects.toThrow('spawn /nowhere/x ENOENT');
  });
});

function shell(script: string, clock: Clock = SYSTEM_CLOCK): Child {
  return startChild({ title: 'the shell', file: '/bin/sh', args: ['-c', script], env: process.env, clock });
}

function run(script: string, clock: Clock = SYSTEM_CLOCK): Promise<string> {
  const command = { file: '/bin/sh', args: ['-c', script], directory: '/', timeoutMs: 20_000 };
  return runCommand({ env: process.env, clock }, command);
}
