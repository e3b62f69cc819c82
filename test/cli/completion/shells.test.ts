import { spawnSync } from 'node:child_process';
import { chmodSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { folderOf, runCli } from '../fake-io.js';

const CLI = join(import.meta.dirname, '../../../dist/bundle/main.js');

/** A directory on the PATH with `promscaler`, and the working directory, with a file. */
let folder: string;
let env: NodeJS.ProcessEnv;

beforeAll(() => {
  folder = folderOf({ 'web.yaml': '' });
  for (const name of ['promscaler', 'kubectl_complete-promscaler']) symlinkSync(CLI, join(folder, name));
  chmodSync(CLI, 0o755);
  env = { ...process.env, PATH: `${folder}:${process.env['PATH'] ?? ''}`, HOME: folder };
});

const isInstalled = (shell: string): boolean => spawnSync(shell, ['--version']).status === 0;

const run = (file: string, args: readonly string[], input = ''): readonly string[] => {
  const { stdout, stderr, status } = spawnSync(file, args, { cwd: folder, env, input, encoding: 'utf8' });
  expect([stderr, status]).toEqual(['', 0]);
  return stdout.split('\n').filter((line) => line !== '');
};

const scriptOf = async (shell: string): Promise<string> =>
  join(folderOf({ script: (await runCli(['completion', shell])).stdout }), 'script');

describe('in bash', () => {
  /** Returns what bash would insert for the last word. */
  const suggest = async (...words: readonly string[]): Promise<readonly string[]> => {
    const quoted = words.map((word) => `'${word}'`).join(' ');
    const lines = [
      `source ${await scriptOf('bash')}`,
      `COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}`,
      `_promscaler; printf '%s\\n' "\${COMPREPLY[@]}"`,
    ];
    return run('bash', ['--norc', '-c', lines.join('\n')]);
  };

  it('completes commands, options and values, and leaves file names to bash', async () => {
    expect(await suggest('promscaler', 'sta')).toEqual(['status']);
    expect(await suggest('promscaler', 'status', '--al')).toEqual(['--all-namespaces']);
    expect(await suggest('promscaler', 'status', '--output', '=', 'y')).toEqual(['yaml']);
    expect(await suggest('promscaler', 'validate', 'we')).toEqual([]);
  });

  it('completes at the prompt of an interactive shell', async () => {
    const typed = `source ${await scriptOf('bash')}\necho start; promscaler validate w\t; promscaler completion f\t\n`;
    const { stdout } = spawnSync('script', ['-qec', 'bash --norc -i', '/dev/null'], {
      cwd: folder,
      env: { ...env, TERM: 'dumb' },
      input: `${typed}exit\n`,
      encoding: 'utf8',
      timeout: 60_000,
    });

    if (!isInstalled('script')) return;
    expect(stdout).toContain('promscaler validate web.yaml');
    expect(stdout).toContain('promscaler completion fish');
  });
});

(isInstalled('zsh') ? describe : describe.skip)('in zsh', () => {
  it('completes commands and values, and leaves file names to zsh', async () => {
    const stubs = `compdef() { :; }; _describe() { print -rl -- $values; }; _files() { print files; }`;
    const suggest = async (...words: readonly string[]): Promise<readonly string[]> =>
      run('zsh', [
        '-f',
        '-c',
        `${stubs}; source ${await scriptOf('zsh')}; words=(${words.map((word) => `'${word}'`).join(' ')}); CURRENT=${words.length}; _promscaler`,
      ]);

    expect(await suggest('promscaler', 'vers')).toEqual(['version:Print the version of this command']);
    expect(await suggest('promscaler', 'status', '-o', 'y')).toEqual(['yaml']);
    expect(await suggest('promscaler', 'validate', '')).toEqual(['files']);
    expect(await suggest('promscaler', 'nothing', '')).toEqual([]);
  });
});

(isInstalled('fish') ? describe : describe.skip)('in fish', () => {
  it('completes commands, values and file names', async () => {
    const script = await scriptOf('fish');
    const suggest = (line: string): readonly string[] =>
      run('fish', ['--no-config', '-c', `source ${script}; complete -C '${line}'`]);

    expect(suggest('promscaler vers')).toEqual(['version\tPrint the version of this command']);
    expect(suggest('promscaler status -o y')).toEqual(['yaml']);
    expect(suggest('promscaler status ')).not.toContain('web.yaml');
    expect(suggest('promscaler validate we').join()).toContain('web.yaml');
  });
});

describe('kubectl promscaler', () => {
  it('is completed by kubectl_complete-promscaler', () => {
    expect(run(join(folder, 'kubectl_complete-promscaler'), ['status', '-o', 'y'])).toEqual(['yaml', ':4']);
    expect(run(join(folder, 'kubectl_complete-promscaler'), ['sta'])).toEqual([
      expect.stringMatching(/^status\t/),
      ':4',
    ]);
  });
});
