import { describe, expect, it } from '@jest/globals';
import { hasColors } from '../../../src/cli/output/paint.js';
import { folderOf, runCli } from '../fake-io.js';

describe('hasColors', () => {
  it.each([
    [true, {}, true],
    [false, {}, false],
    [true, { TERM: 'dumb' }, false],
    [true, { TERM: 'xterm' }, true],
    [true, { NO_COLOR: '1' }, false],
    [true, { NO_COLOR: '0' }, false],
    [true, { NO_COLOR: '' }, true],
    [false, { FORCE_COLOR: '1' }, true],
    [false, { FORCE_COLOR: '' }, false],
    [true, { FORCE_COLOR: '0' }, false],
    [true, { FORCE_COLOR: 'false' }, false],
    [true, { FORCE_COLOR: '1', NO_COLOR: '1' }, false],
    [true, { FORCE_COLOR: '1', TERM: 'dumb' }, true],
  ])('terminal %j with %j: %j', (isTerminal, env, expected) => {
    const stdout = { isTerminal, write: () => undefined };

    expect(hasColors({ stdout, env })).toBe(expected);
  });
});

describe('--no-color', () => {
  it.each([[['--no-color', 'doctor']], [['doctor', '--no-color']]])(
    'in %j wins over a terminal and FORCE_COLOR',
    async (argv) => {
      const surroundings = {
        cwd: folderOf({ 'promscaler.yaml': 'wrong: 1\n' }),
        isTerminal: true,
        env: { FORCE_COLOR: '1', HOME: '/nonexistent' },
      };
      const command = [...argv, '--config', 'promscaler.yaml'];

      const plain = await runCli(command, surroundings);
      const colored = await runCli(
        command.filter((word) => word !== '--no-color'),
        surroundings,
      );

      expect([plain.exitCode, colored.exitCode]).toEqual([1, 1]);
      expect([plain.stdout.includes('\u001b'), colored.stdout.includes('\u001b')]).toEqual([false, true]);
    },
  );
});
