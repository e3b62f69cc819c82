import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { VERSION } from '../../src/cli/version/version.js';
import { withCluster } from '../../src/cli/reach/cluster-options.js';
import { resolveServiceConfig } from '../../src/config/resolve-service-config.js';
import { folderOf, runCli } from './fake-io.js';

/** Every command that connects to a cluster or a service. */
const REACHING = ['run', 'doctor', 'new', 'validate', 'explain', 'status', 'pause', 'resume'];

describe('a command line', () => {
  it.each(REACHING)('accepts --kubeconfig, --context, --url and --no-color for %s', async (command) => {
    const { stdout } = await runCli([command, '--help']);

    for (const option of ['--kubeconfig <file>', '--context <name>', '--url <address>', '--no-color'])
      expect(stdout).toContain(option);
  });

  it.each([
    [['frob'], 2],
    [['status', '--frob'], 2],
    [['explain'], 2],
    [['status', '-o', 'html'], 2],
    [['show', 'nowhere.json', '-o', 'xml'], 2],
    [['decide', 'nowhere.json'], 1],
    [['validate', '--kubeconfig', 'x', 'y.yaml'], 2],
    [['completion', 'tcsh'], 2],
    [['status', '--kubeconfig', '/nowhere'], 1],
    [['demo', '--speed', '0'], 2],
    [['run', '--config', '/nowhere.yaml'], 1],
  ])('%j ends with its error after a single prefix', async (argv, code) => {
    const { exitCode, stderr, stdout } = await runCli(argv, { env: { HOME: '/nonexistent' } });

    expect([exitCode, stdout]).toEqual([code, '']);
    expect(stderr).toMatch(/^promscaler: /);
    expect(stderr).not.toMatch(/^error:/m);
  });

  it('prints its version with three options', async () => {
    const [option, command, json] = await Promise.all([
      runCli(['--version']),
      runCli(['version']),
      runCli(['version', '-o', 'json']),
    ]);

    expect([option.stdout, command.stdout]).toEqual([`${VERSION}\n`, `promscaler ${VERSION}\n`]);
    expect(JSON.parse(json.stdout)).toEqual({ version: VERSION });
  });
});

describe('withCluster', () => {
  const written = { kubeconfig: '/a', context: 'b', url: 'https://c' };
  const base = resolveServiceConfig({}, null);
  const config = { ...base, kubernetes: { ...base.kubernetes, ...written } };

  it.each([
    [{}, written],
    [{ kubeconfig: 'k' }, { kubeconfig: 'k', context: null, url: null }],
    [{ context: 'x' }, { kubeconfig: '/a', context: 'x', url: null }],
    [{ url: 'http://u' }, { kubeconfig: '/a', context: 'b', url: 'http://u' }],
    [
      { kubeconfig: 'k', url: 'http://u' },
      { kubeconfig: 'k', context: null, url: 'http://u' },
    ],
  ])('with %j', (options, expected) => {
    expect(withCluster(config, options).kubernetes).toMatchObject(expected);
  });
});

/** Returns the suggestions of bash for the last word. */
async function suggest(...words: readonly string[]): Promise<readonly string[]> {
  const { stdout: script } = await runCli(['completion', 'bash']);
  const directory = folderOf({ script });
  const quoted = words.map((word) => `'${word}'`).join(' ');
  const asked = `source ${join(directory, 'script')}; COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _promscaler; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', asked], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.split('\n').filter((line) => line !== '');
}

describe('completion bash', () => {
  it('suggests commands, options and their values', async () => {
    expect(await suggest('promscaler', 'sta')).toEqual(['status']);
    expect(await suggest('promscaler', '')).toContain('completion');
    expect(await suggest('promscaler', 'status', '--al')).toEqual(['--all-namespaces']);
    expect(await suggest('promscaler', 'status', '-o', '')).toEqual(['text', 'wide', 'json', 'yaml', 'name']);
    expect(await suggest('promscaler', 'status', '--output', 'y')).toEqual(['yaml']);
    expect(await suggest('promscaler', '--no-color', 'pause', '--dir')).toEqual(['--direction']);
    expect(await suggest('promscaler', 'pause', '--direction', 'scale-d')).toEqual(['scale-down']);
    expect(await suggest('promscaler', 'completion', 'f')).toEqual(['fish']);
  });

  it('leaves file names to the shell', async () => {
    expect(await suggest('promscaler', 'validate', 'we')).toEqual([]);
    expect(await suggest('promscaler', 'status', '--kubeconfig', '')).toEqual([]);
    expect(await suggest('promscaler', 'nothing', 'x')).toEqual([]);
  });
});

describe.each([
  ['zsh', ['-n'], 'compdef _promscaler promscaler'],
  ['fish', ['--no-execute'], 'complete -c promscaler'],
] as const)('completion %s', (shell, check, line) => {
  it('lists every command and is a valid script, if the shell is installed', async () => {
    const { exitCode, stdout } = await runCli(['completion', shell]);

    expect(exitCode).toBe(0);
    expect(stdout).toContain(line);
    for (const command of [...REACHING, 'version', 'schema']) expect(stdout).toContain(command);
    const { error, status, stderr } = spawnSync(shell, [...check, '/dev/stdin'], {
      input: stdout,
      encoding: 'utf8',
    });
    if (error === undefined) expect([status, stderr]).toEqual([0, '']);
  });
});
