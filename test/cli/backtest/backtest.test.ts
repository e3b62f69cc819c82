import { describe, expect, it } from '@jest/globals';
import { folderOf, runCli } from '../fake-io.js';
import { describeAssumptions } from '../../../src/cli/backtest/assumption-lines.js';
import { ASSUMPTIONS } from '../../backtest/compare/assumptions.js';
import { scalerOf } from '../../support/builders.js';
import { scalerYaml } from '../../support/scaler-yaml.js';

const HPA = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: web, namespace: shop }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: web }
  maxReplicas: 5
  metrics:
    - type: Resource
      resource: { name: cpu, target: { type: Utilization, averageUtilization: 70 } }
`;

/** 30 minutes of a load of 70, at one value per minute. */
const TRACE = `t_seconds,value\n${Array.from({ length: 30 }, (_, minute) => `${minute * 60},70`).join('\n')}\n`;

/** 10 minutes of a load of 70, then 20 minutes of 180. */
const STEP = `t_seconds,value\n0,70\n600,180\n${Array.from({ length: 20 }, (_, minute) => `${660 + minute * 60},180`).join('\n')}\n`;

const cwd = folderOf({
  'web.yaml': scalerYaml(),
  'two.yaml': `${scalerYaml()}---\n${scalerYaml({ name: 'api' })}`,
  'hpa.yaml': HPA,
  'hpas.yaml': `${HPA}---\n${HPA.replace('name: web', 'name: api').replace('spec:', 'spec:\n  foo: 1').replace('maxReplicas: 5', 'maxReplicas: 1')}`,
  'both.yaml': `${HPA}---\n${scalerYaml()}`,
  'day.csv': TRACE,
  'queue.yaml': scalerYaml({
    metrics: ['external: { query: sum(queue), target: { averageValue: 7 } }'],
  }),
  'custom-hpa.yaml': HPA.replace(
    / +- type: Resource\n.*\n/,
    (cpu) =>
      `${cpu}    - type: Pods\n      pods: { metric: { name: requests }, target: { type: AverageValue, averageValue: 5 } }\n`,
  ),
  'unix.csv': 't_seconds,value\n1700000000,70\n1700000060,70\n1700000120,70\n',
  'bad-service.yaml': 'syncPeriod: 1\n',
  'bad.csv': 't_seconds,value\n0,1\nnoon,2\n',
});

const backtest = (...more: readonly string[]): ReturnType<typeof runCli> =>
  runCli(['backtest', '--scaler', 'web.yaml', '--trace', 'day.csv', '--capacity', '10', ...more], { cwd });

interface JsonReport {
  readonly variants: readonly {
    readonly name: string;
    readonly figures: Readonly<Record<string, number>>;
    readonly changes: readonly { readonly to: number }[];
    readonly onParetoFront: boolean;
  }[];
  readonly baselines: readonly {
    readonly name: string;
    readonly figures: Readonly<Record<string, number>>;
  }[];
}

async function reportOf(...more: readonly string[]): Promise<JsonReport> {
  const { stdout } = await backtest('-o', 'json', ...more);
  return JSON.parse(stdout) as JsonReport;
}

describe('backtest', () => {
  it('starts at the 7 pods that a load of 70 needs, and scales up to 10, so that each uses 70 %', async () => {
    const { variants, baselines } = await reportOf();

    expect(variants.map(({ changes }) => changes.at(-1)?.to)).toEqual([10]);
    expect(variants[0]?.figures).toMatchObject({ theta_U: 0, tau_U: 0, peak_pods: 10, flaps: 0 });
    expect(baselines.map(({ name, figures }) => [name, figures['average_pods']])).toEqual([
      ["static fleet at the document's peak", 10],
      ['static fleet at the peak demand', 7],
      ['ideal follower', 7],
    ]);
  });

  it('runs an HPA next to the document: 5 pods at most carry 50 of 70, so 28.57 % are not served', async () => {
    const { variants } = await reportOf('--against', 'hpa.yaml');

    expect(variants.map(({ name }) => name)).toEqual(['web.yaml', 'hpa.yaml']);
    expect(variants[1]?.figures['unserved']).toBeCloseTo(100 * (20 / 70), 10);
    expect(variants[1]?.figures['theta_U']).toBeCloseTo(100 * (2 / 7), 10);
    // The first of 120 rounds has no sample yet: it is 15 s old.
    expect(variants[1]?.figures['at_maximum']).toBeCloseTo(100 * (119 / 120), 10);
  });

  it('runs all combinations of two fields but the present one, and marks those that no other one beats', async () => {
    const { variants } = await reportOf('--sweep', 'averageUtilization=50,70', '--sweep', 'maxReplicas=5,20');

    expect(variants.map(({ name }) => name)).toEqual([
      'web.yaml',
      'averageUtilization=50 maxReplicas=5',
      'averageUtilization=50 maxReplicas=20',
      'averageUtilization=70 maxReplicas=5',
    ]);
    expect(variants.map(({ onParetoFront }) => onParetoFront)).toEqual([true, true, false, true]);
  });

  it('prints a table, a chart and the assumptions', async () => {
    const { stdout, exitCode } = await backtest();

    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^ +theta_U % +theta_O %/);
    expect(stdout).toMatch(/^demand {4}[▁-█]+$/m);
    expect(stdout).toMatch(
      /^theta_U, theta_O: missing and surplus pods, in percent .*\ntau_U, tau_O: time with too few and with too many pods, in percent\./m,
    );
    expect(stdout).toContain(
      '  one pod carries a load of 10 (--capacity); load beyond the capacity of all pods, averaged over 15 s, is lost\n',
    );
  });

  it('says that a document is at its maximum while the load needs 70 pods, and nothing while it needs 7', async () => {
    const [full, other] = [await backtest('--capacity', '1'), await backtest()];

    expect(full.stdout).toContain(
      'web.yaml is at its maximum of 20 pods for 99 % of the time, but the load needs up to 70: raise maxReplicas, or check the unit of the capacity (1)\n',
    );
    expect(other.stdout).not.toContain('at its maximum of');
  });

  it('says that a range of 15 s has no rate at a scrape interval of 15 s, as in a history, and nothing of 16 s', () => {
    const linesOf = (seconds: number, name = 'rate'): string => {
      const metric = { name: 'rps' };
      const query = `sum(${name}(r[${seconds}s]))`;
      const spec = { metrics: [{ external: { metric, query, target: { averageValue: 5 } } }] };
      const scaler = scalerOf({ scaleTargetRef: { name: 'web' }, maxReplicas: 9, ...spec });
      return describeAssumptions(ASSUMPTIONS, [{ name: 'web', scaler }], { isSaved: false }).join('\n');
    };

    expect(linesOf(15)).toContain(
      'a range of 15 s is not longer than the scrape interval of 15 s, so its rate is not delayed in this simulation, and theta_U is too low: set the scrape interval with --config',
    );
    expect(linesOf(16)).not.toContain('is not longer than');
    expect(linesOf(15, 'max_over_time')).not.toContain('is not longer than');
  });

  it('lists assumptions about cpu only if a document has a metric of cpu', async () => {
    const run = async (document: string): Promise<string> =>
      (await runCli(['backtest', '--scaler', document, '--trace', 'day.csv', '--capacity', '10'], { cwd }))
        .stdout;

    expect(await run('web.yaml')).toContain(
      '  cpu is a rate over 120 s (the default of resourceWindowSeconds; --config overrides it)\n  a rate is the mean between the first and the last sample of the window; the time between these samples is 30 s shorter than the window\n  a sample is 15 s old, half of the scrape interval (the default of scrapeIntervalSeconds; --config overrides it)\n',
    );
    expect(await run('queue.yaml')).not.toContain('cpu');
  });

  it.each([
    [
      'default: { urls: [http://p:9090] }',
      'the default of resourceWindowSeconds; --config overrides it',
      120,
    ],
    [
      'default: { scrapeIntervalSeconds: 15 }',
      'the default of resourceWindowSeconds; --config overrides it',
      60,
      'scrapeIntervalSeconds of --config',
    ],
    [
      'default: { resourceWindowSeconds: 300 }',
      'resourceWindowSeconds of --config',
      300,
      'the default of scrapeIntervalSeconds; --config overrides it',
    ],
  ])(
    'says what --config sets: %s',
    async (
      source,
      window,
      seconds,
      interval = 'the default of scrapeIntervalSeconds; --config overrides it',
    ) => {
      const folder = folderOf({
        'web.yaml': scalerYaml(),
        'day.csv': TRACE,
        'config.yaml': `prometheus: { ${source} }\n`,
      });
      const args = ['--scaler', 'web.yaml', '--trace', 'day.csv', '--capacity', '10'];

      const { stdout } = await runCli(['backtest', ...args, '--config', 'config.yaml'], { cwd: folder });

      expect(stdout).toContain(`  cpu is a rate over ${seconds} s (${window})\n`);
      expect(stdout).toContain(`half of the scrape interval (${interval})\n`);
    },
  );

  it('takes the scrape interval of the data source that the document reads', async () => {
    const metric = 'external: { query: sum(queue), source: mimir, target: { averageValue: 7 } }';
    const folder = folderOf({
      'queue.yaml': scalerYaml({ metrics: [metric] }),
      'day.csv': TRACE,
      'config.yaml': 'prometheus: { default: {}, mimir: { scrapeIntervalSeconds: 10 } }\n',
    });
    const args = ['--scaler', 'queue.yaml', '--trace', 'day.csv', '--capacity', '10'];

    const { stdout } = await runCli(['backtest', ...args, '--config', 'config.yaml'], { cwd: folder });

    expect(stdout).toContain(
      '  a sample is 5 s old, half of the scrape interval (scrapeIntervalSeconds of --config)\n',
    );
  });

  it('has the figures of a config with the defaults of the service, and those of its own window with another', async () => {
    const config = (window: number): string =>
      `prometheus: { default: { urls: [http://prometheus:9090], scrapeIntervalSeconds: 30, resourceWindowSeconds: ${window} } }\n`;
    const folder = folderOf({
      'web.yaml': scalerYaml(),
      'step.csv': STEP,
      '120.yaml': config(120),
      '300.yaml': config(300),
    });
    const run = async (...more: readonly string[]): Promise<number | undefined> => {
      const args = [
        'backtest',
        '--scaler',
        'web.yaml',
        '--trace',
        'step.csv',
        '--capacity',
        '10',
        '-o',
        'json',
        ...more,
      ];
      const { stdout } = await runCli(args, { cwd: folder });
      return (JSON.parse(stdout) as JsonReport).variants[0]?.figures['theta_U'];
    };

    const unset = await run();

    expect(unset).toBe(await run('--config', '120.yaml'));
    expect(await run('--config', '300.yaml')).toBeGreaterThan((unset ?? NaN) + 0.5);
  });

  it('says which metric of an HPA has no query, and how to give it', async () => {
    const { stderr, stdout, exitCode } = await backtest('--against', 'custom-hpa.yaml');

    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toContain(
      'promscaler: --against: custom-hpa.yaml: HPA shop/web cannot be converted completely: spec.metrics[1]: FILL IN the query of this Pods metric "requests": pass the rules of prometheus-adapter with --adapter-config. Without these parts, the back-test would run a different autoscaler. Convert the file with promscaler import, complete the document, and pass the document instead\n',
    );
  });

  it('warns that Unix times of a trace were moved, unless --start is given', async () => {
    const moved = await backtest('--trace', 'unix.csv');
    const started = await backtest('--trace', 'unix.csv', '--start', '2023-11-14T22:13:20Z');

    expect(moved.stderr).toBe(
      'unix.csv:2: warning: t_seconds begins with 1700000000, which looks like the Unix time 2023-11-14T22:13:20Z: the trace was moved to 2026-01-05T00:00:00Z; set --start 2023-11-14T22:13:20Z to keep the times of the trace\n',
    );
    expect([started.stderr, started.exitCode]).toEqual(['', 0]);
  });

  it('prints a Markdown table with one row per variant', async () => {
    const { stdout } = await backtest('-o', 'markdown', '--price', '0.5');

    expect(
      stdout
        .split('\n')
        .slice(0, 3)
        .map((line) => line.split('|').length),
    ).toEqual([16, 16, 16]);
    expect(stdout).toContain('| cost |\n');
  });

  it.each([
    ['theta_U>0', 0, ''],
    ['average_pods>=7', 1, 'promscaler: web.yaml: average_pods >= 7\n'],
    [' peak_pods < 11 ', 1, 'promscaler: web.yaml: peak_pods < 11\n'],
  ])('with --fail-if "%s" exits with %d', async (condition, code, text) => {
    const { exitCode, stderr } = await backtest('--fail-if', condition);

    expect([exitCode, stderr]).toEqual([code, text]);
  });

  it('reads a trace from standard input', async () => {
    const { exitCode } = await runCli(
      ['backtest', '--scaler', 'web.yaml', '--trace', '-', '--capacity', '10'],
      { cwd, stdin: TRACE },
    );

    expect(exitCode).toBe(0);
  });

  it.each(['both.yaml', 'both.yaml#shop/web'])(
    'takes the document of %s, not its HPA, and says so',
    async (file) => {
      const { exitCode, stderr, stdout } = await backtest('--against', file, '-o', 'json');
      const { variants } = JSON.parse(stdout) as JsonReport;

      expect(exitCode).toBe(0);
      expect(stderr).toBe('both.yaml: the Scaler document is used, not HPA shop/web of the same file\n');
      expect(variants.map(({ figures }) => figures)).toEqual([variants[0]?.figures, variants[0]?.figures]);
    },
  );

  it('prints remarks and warnings of the chosen autoscaler of a file only, and names it', async () => {
    const web = await backtest('--against', 'hpas.yaml#shop/web');
    const api = await backtest('--against', 'hpas.yaml#api');

    expect(web.stderr).toBe('');
    expect(api.stderr).toMatch(/^hpas\.yaml: HPA shop\/api: spec\.foo is not a known field[^]*\n$/);
  });

  it('chooses one of several documents of a file', async () => {
    const { stderr } = await backtest('--against', 'two.yaml');
    const { variants } = await reportOf('--against', 'two.yaml#shop/api');

    expect(stderr).toBe(
      'promscaler: --against: two.yaml has several scalers (shop/web, shop/api); select one: two.yaml#shop/web\n',
    );
    expect(variants.map(({ name }) => name)).toEqual(['web.yaml', 'two.yaml#shop/api']);
  });

  it.each([
    [['--capacity', '0'], 2, '--capacity is "0", must be a number above 0'],
    [['--pod-start', 'soon'], 2, '--pod-start is "soon", must be a duration such as 120s, or median=60s'],
    [['--fail-if', 'theta_X>1'], 2, 'there is no figure theta_X; the figures are theta_U, theta_O'],
    [['--fail-if', 'theta_U=1'], 2, 'must be a figure, <, <=, > or >=, and a number, such as theta_U>1'],
    [['--fail-if', 'cost>0'], 2, '--fail-if cost needs --price'],
    [
      ['--initial-replicas', '20001'],
      1,
      'web.yaml: the simulation needs 20001 pods, must need at most 20000: check the capacity',
    ],
    [['--sweep', 'averageUtilization'], 2, 'must be FIELD=VALUE,VALUE, such as averageUtilization=50,60,70'],
    [['--sweep', 'target=1'], 1, 'spec.metrics[0].resource.target'],
    [
      ['--sweep', 'averageUtilisation=50'],
      1,
      'the document does not contain averageUtilisation: add the field, or pass its whole path below spec',
    ],
    [['--sweep', 'maxReplicas=0'], 1, 'maxReplicas=0: spec.maxReplicas is 0'],
    [['--against', 'missing.yaml'], 1, '--against: reading missing.yaml: no such file'],
    [['--against', 'day.csv'], 1, 'day.csv has no valid scaler document or autoscaler'],
    [
      ['--against', 'two.yaml#shop/none'],
      1,
      'two.yaml#shop/none does not exist; the scalers of the file are shop/web, shop/api',
    ],
    [['--trace', 'bad.csv'], 1, 'bad.csv:3: error: t_seconds is "noon", must be a number of seconds'],
    [['--config', 'bad-service.yaml'], 1, 'bad-service.yaml:1:1: error: syncPeriod is not a known field'],
    [['--config', 'bad-service.yaml'], 1, '--config: bad-service.yaml is not a valid service config'],
    [['--config', 'none.yaml'], 1, 'none.yaml: error: no such file'],
    [['-o', 'xml'], 2, '-o is xml, must be one of text, json, markdown'],
  ])('rejects %j with exit code %d', async (more, code, text) => {
    const { exitCode, stderr, stdout } = await backtest(...more);

    expect([exitCode, stdout]).toEqual([code, '']);
    expect(stderr).toContain(text);
  });
});
