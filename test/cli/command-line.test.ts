import { execFileSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { VERSION } from '../../src/cli/output/version.js';
import { withCluster } from '../../src/cli/reach/cluster-options.js';
import { resolveServiceConfig } from '../../src/config/resolve-service-config.js';
import { runCli } from './fake-io.js';

/** Every command that connects to a cluster or a service. */
const REACHING = ['run', 'doctor', 'new', 'validate', 'explain', 'status', 'pause', 'resume'];

describe('a command line', () => {
  it.each(REACHING)('accepts --kubeconfig, --context, --url and --no-color for %s', async (command) => {
    const { stdout } = await runCli([command, '--help']);

    for (const option of ['--kubeconfig <file>', '--context <context>', '--url <address>', '--no-color'])
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

describe('--help', () => {
  const COMMANDS = [
    ...['run', 'demo', 'doctor', 'new', 'import', 'validate', 'show', 'decide', 'backtest', 'test', 'schema'],
    ...['explain', 'status', 'dashboard', 'pause', 'resume', 'adopt', 'version', 'completion'],
  ];

  it('lists these commands', async () => {
    const { stdout } = await runCli(['--help']);

    const listed = Array.from(stdout.matchAll(/^ {2}([a-z]+)(?: \[| <| {2})/gm), ([, name]) => name);
    expect(listed).toEqual([...COMMANDS, 'help']);
  });

  it.each(COMMANDS)(
    'of %s has two examples with options of the command, in lines of at most 80 characters',
    async (name) => {
      const { stdout } = await runCli([name, '--help'], { isTerminal: true, columns: 200 });

      const [help = '', examples = ''] = stdout.split('\nExamples:\n');
      const lines = examples
        .replaceAll('\\\n', '')
        .split('\n')
        .filter((line) => line.includes(`promscaler ${name}`));
      const options = lines.flatMap((line) => {
        const command =
          line
            .slice(line.indexOf(`promscaler ${name}`))
            .replace(/'[^']*'/g, '')
            .split(/[|>]/)[0] ?? '';
        return command.split(/\s+/).filter((word) => /^--?[a-z]/.test(word));
      });
      expect(lines).toHaveLength(2);
      for (const option of options) expect(help).toMatch(new RegExp(`(^|[ ,])${option}[, ]`, 'm'));
      expect(Math.max(...stdout.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
    },
  );

  it.each(['kubectl promscaler', 'node /opt/some/checkouts/promscaler/main.js'])(
    'has lines of at most 80 characters, and examples for a shell, if the program is started as %s',
    async (command) => {
      for (const name of COMMANDS) {
        const { stdout: named } = await runCli([name, '--help']);
        const { stdout } = await runCli([name, '--help'], { command });

        expect(Math.max(...stdout.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
        const joined = (help: string): string =>
          help.replaceAll(/ \\\n +/g, ' ').replaceAll(/\n {4}(?=[[<])/g, ' ');
        expect(joined(stdout)).toBe(joined(named).replaceAll(`promscaler ${name}`, `${command} ${name}`));
      }
    },
  );

  it('of npm run demo has the options of demo, and starts no compiler', async () => {
    const { stdout } = await runCli(['demo', '--help']);

    const [, options = ''] = /\nOptions:\n(.*?)\n {2}-h, --help /s.exec(stdout) ?? [];
    const printed = execFileSync(process.execPath, ['test/support/demo.mjs', '--help'], {
      encoding: 'utf8',
      stdio: 'pipe',
    });
    expect(printed).toContain(`\nOptions:\n${options}\n`);
    expect(printed).not.toContain('Compiling');
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
