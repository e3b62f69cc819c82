import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { createLedger } from '../../src/telemetry/ledger.js';
import { nameProgram } from '../../src/cli/output/lines.js';
import { send } from '../simulator/cluster.js';
import { AdoptFixture } from './adopt/adopt-fixture.js';
import { folderOf, type Ran, runCli, type Surroundings } from './fake-io.js';
import { appOf, cpuSnapshot, recordOf } from './live-service.js';
import { CLOCK_AT_20_S, serveApp } from './status/status-fixture.js';

const COMMAND = 'node /srv/promscaler/main.js';

const SRC = join(import.meta.dirname, '../../src');
/** A command with an option, such as `see status -o json`, without `promscaler` before it. */
const UNNAMED =
  /(?:see|with|use|run|by|one:) (?:adopt|backtest|doctor|explain|import|pause|resume|show|status|test|validate) -{1,2}[a-z]|one: explain/;

const HPA = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: web, namespace: shop }
`;

const SCALED_OBJECT = `apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: { name: web, namespace: shop, annotations: { autoscaling.keda.sh/paused-replicas: '3' } }
spec:
  scaleTargetRef: { name: web }
  triggers: [{ type: cpu, metricType: Utilization, metadata: { value: '60' } }]
`;

const TEST = 'scalers: [web.yaml]\ntests: []\n';

function run(argv: readonly string[], surroundings: Surroundings = {}): Promise<Ran> {
  return runCli(argv, { ...surroundings, command: COMMAND });
}

/** Starts a service with a scaler without data, and with a rejected document. */
async function serveDead(scaler: string | null = null): Promise<readonly string[]> {
  const ledger = createLedger();
  ledger.add(recordOf(cpuSnapshot(0, { samples: [{ error: 'gone', kind: 'missing' }] })));
  const problem = {
    code: 'no-scaler',
    severity: 'error',
    message: 'kind is HorizontalPodAutoscaler; promscaler import converts it',
    file: 'hpa.yaml',
    place: null,
    path: '',
    sourceLine: null,
    ...(scaler === null ? {} : { scaler }),
  } as const;
  return ['--url', await serveApp(appOf(ledger, {}, { problems: () => [problem] }))];
}

describe('a hint of a command that was started with node /srv/promscaler/main.js starts it in the same way:', () => {
  const cwd = folderOf({ 'hpa.yaml': HPA, 'scaled.yaml': SCALED_OBJECT, 'web.test.yaml': TEST });

  it('explain', async () => {
    const { stdout } = await run(['explain', 'shop/web', ...(await serveDead())], { clock: CLOCK_AT_20_S() });

    expect(stdout).toContain(`\n    ${COMMAND} doctor shop/web --config promscaler.yaml`);
  });

  it('status', async () => {
    const url = await serveDead();
    const { stderr } = await run(['status', ...url]);
    const unnamed = await run(['status', 'deployment/web', '-n', 'shop', ...url]);

    expect(stderr).toContain(`; ${COMMAND} import converts it\n`);
    expect(unnamed.stderr).toContain(`; ${COMMAND} status -o wide lists`);
  });

  it('status, in the CAUSE of a rejected document', async () => {
    const url = await serveDead('shop/hpa');
    const { stdout } = await run(['status', ...url]);

    expect(stdout).toMatch(/ Invalid .*; node \/srv\/promscaler\/main\.js import converts it\n/);
  });

  it('--help, in usage and examples', async () => {
    const [whole, one] = [await run(['--help']), await run(['adopt', '--help'])];

    expect(whole.stdout).toContain(`Usage: ${COMMAND} [options] [command]\n`);
    expect(one.stdout).toContain(`Usage: ${COMMAND} adopt [options] `);
    expect(one.stdout).toContain(`\n  ${COMMAND} adopt hpa/web -n shop\n`);
    expect(`${whole.stdout}${one.stdout}`).not.toMatch(/(?<![/\w.])promscaler (?:adopt|\[)/);
  });

  it.each(['text', 'json'])('doctor -o %s', async (format) => {
    const { stdout } = await run(['doctor', '-o', format], { cwd });

    expect(stdout).toContain(`\`${COMMAND} validate --live FILE\` checks a document`);
    expect(stdout).toContain(`\`${COMMAND} new\` writes`);
  });

  it.each(['text', 'json'])('validate -o %s', async (format) => {
    const { stdout } = await run(['validate', 'hpa.yaml', 'web.test.yaml', '-o', format], { cwd });

    expect(stdout).toContain(`; ${COMMAND} import converts it`);
    if (format === 'text') expect(stdout).toContain(`1 test file (see ${COMMAND} test)`);
  });

  it('show, which prints the problems of the document', async () => {
    expect((await run(['show', 'hpa.yaml'], { cwd })).stderr).toContain(`; ${COMMAND} import converts it`);
  });

  it('import', async () => {
    const { stderr } = await run(['import', 'scaled.yaml'], { cwd });

    expect(stderr).toContain(`set the replicas with ${COMMAND} pause --replicas`);
  });

  it('new', async () => {
    const { stdout } = await run(
      ['new', 'web', '-n', 'shop', '--offline', '--max', '3', '--output-file', 'new.yaml'],
      {
        cwd,
      },
    );

    expect(stdout).toBe(`new.yaml created. Next: ${COMMAND} validate new.yaml\n`);
  });

  it('adopt', async () => {
    const fixture = await AdoptFixture.create();
    fixture.command = COMMAND;
    const incomplete = await fixture.run();
    const started = await fixture.start();
    await send(fixture.cluster.simulator, 'PATCH', '/apis/apps/v1/namespaces/shop/deployments/web', {
      body: { metadata: { annotations: { 'promscaler.dev/paused': 'true' } } },
    });
    await fixture.decided(2);
    const paused = await fixture.run('--switch');
    const reported = await fixture.run('--report');

    expect(incomplete.stderr).toContain(
      ` | ${COMMAND} import --dry-run - > web.yaml\n  ${COMMAND} adopt hpa/web`,
    );
    expect(started.stdout).toContain(`\nSwitch:  ${COMMAND} adopt hpa/web -n shop --switch`);
    const resume = `End the pause first: ${COMMAND} resume shop/web${started.stdout.split('--switch')[1] ?? ''}`;
    expect(paused.stderr).toContain(`${resume.trim()}. Nothing was changed`);
    expect(reported.stdout).toContain('A switch would be refused now: scaler shop/web is paused');
    expect(reported.stdout).toContain(resume);
  });
});

describe('a command in a text is named as the user started the program', () => {
  it('and no text of src names a command without the program', () => {
    const files = readdirSync(SRC, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
    const unnamed = files.flatMap(({ parentPath, name }) => {
      const lines = readFileSync(join(parentPath, name), 'utf8').split('\n');
      return lines.filter((line) => UNNAMED.test(line)).map((line) => `${name}: ${line.trim()}`);
    });

    expect(unnamed).toEqual([]);
  });

  it('every command of the help', async () => {
    const { stdout } = await run(['--help']);
    const commands = stdout.split('\nCommands:\n')[1] ?? '';
    const names = [...commands.matchAll(/^ {2}(\w+)/gm)].map(([, name = '']) => name);

    expect(names).toContain('completion');
    for (const name of names.filter((one) => one !== 'help'))
      expect(nameProgram(`promscaler ${name}`, { command: COMMAND })).toBe(`${COMMAND} ${name}`);
  });

  it.each([
    [
      'kubectl exec -n x a -- promscaler doctor shop/web',
      'kubectl exec -n x a -- promscaler doctor shop/web',
    ],
    ['promscaler patches nothing; promscaler tests it', 'promscaler patches nothing; promscaler tests it'],
    ['helm template CHART | promscaler import -', `helm template CHART | ${COMMAND} import -`],
    ['/usr/bin/promscaler status', '/usr/bin/promscaler status'],
  ])('%s', (text, expected) => {
    expect(nameProgram(text, { command: COMMAND })).toBe(expected);
  });
});
