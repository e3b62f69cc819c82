import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { documentJsonSchema } from '../../../src/cli/schema/json-schema.js';
import { isPlainObject } from '../../../src/scaler/plain-json.js';
import { readScalers } from '../../../src/scaler/read/read-scalers.js';
import { schemaRows } from '../../docs/schema-rows.js';
import { folderOf, runCli } from '../fake-io.js';

const EXAMPLES = join(import.meta.dirname, '../../../config/scalers');

interface Field {
  readonly path: string;
  readonly value: unknown;
  readonly from: string;
  readonly by?: string;
  readonly replacedBy?: string;
  readonly replacedWhen?: string;
}

async function fieldsOf(text: string, service: string | null = null): Promise<ReadonlyMap<string, string>> {
  const cwd = folderOf({ 'web.yaml': text, 'service.yaml': service ?? '' });
  const config = service === null ? [] : ['--config', 'service.yaml'];
  const { stdout } = await runCli(['show', 'web.yaml', '-o', 'json', ...config], { cwd });
  const [document] = JSON.parse(stdout) as [{ readonly fields: readonly Field[] }];
  return new Map(
    document.fields.map(({ path, value, from, by, replacedBy, replacedWhen }) => [
      path,
      `${JSON.stringify(value)} ${from}${by === undefined ? '' : ` by ${by}`}${replacedBy === undefined ? '' : ` replaced${replacedWhen === undefined ? '' : ` ${replacedWhen}`} by ${replacedBy}`}`,
    ]),
  );
}

const MINIMAL = readFileSync(join(EXAMPLES, 'minimal.yaml'), 'utf8');

describe('show', () => {
  it('prints aligned lines of path, value and origin', async () => {
    const { exitCode, stdout, stderr } = await runCli(['show', 'minimal.yaml'], { cwd: EXAMPLES });

    expect([exitCode, stderr]).toEqual([0, '']);
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toBe('# shop/checkout');
    expect(lines).toContainEqual(expect.stringMatching(/^spec\.maxReplicas {2,}60 {2,}# document$/));
    expect(lines).toContainEqual(expect.stringMatching(/^spec\.behavior {2,}none {2,}# built in$/));
    expect(new Set(lines.slice(1).map((line) => line.indexOf('# '))).size).toBe(1);
  });

  it.each([
    ['', '4 scrapes', 'built in: at least 20 s, and 120 s until the scrape interval is known'],
    [
      'scrapeIntervalSeconds: 15',
      '4 scrapes',
      'built in: at least 20 s, and 60 s until the scrape interval is known',
    ],
    ['resourceWindowSeconds: 180', '180', 'service config'],
  ])('ends with the window of cpu and its origin, with %s', async (source, value, origin) => {
    const cwd = folderOf({ 'web.yaml': MINIMAL, 'service.yaml': `prometheus: { default: { ${source} } }` });

    const { stdout } = await runCli(['show', 'web.yaml', '--config', 'service.yaml'], { cwd });

    expect(stdout.trimEnd().split('\n').at(-1)?.split(/ {2,}/)).toEqual([
      'prometheus.default.resourceWindowSeconds',
      value,
      `# ${origin}`,
    ]);
  });

  it.each(readdirSync(EXAMPLES))('prints YAML that reads as the same spec for %s', async (file) => {
    const { stdout } = await runCli(['show', file, '-o', 'yaml'], { cwd: EXAMPLES });

    const before = readScalers(readFileSync(join(EXAMPLES, file), 'utf8'), file);
    const after = readScalers(stdout, file);
    expect(after.problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(after.scalers.map(({ spec }) => spec)).toEqual(before.scalers.map(({ spec }) => spec));
  });

  it('separates documents with --- in YAML, and prints none for a service config', async () => {
    const second = MINIMAL.replace('name: checkout,', 'name: other,');

    const { stdout } = await runCli(['show', '-', '-o', 'yaml'], { stdin: `${MINIMAL}---\n${second}` });
    const refused = await runCli(['show', '-'], { stdin: 'server: { port: 1 }' });

    expect(readScalers(stdout, 'x').scalers).toHaveLength(2);
    expect(refused).toMatchObject({ exitCode: 1, stdout: '' });
    expect(refused.stderr).toContain('this is a service config');
  });

  it('prints the zone and the ramp that a schedule omits', async () => {
    const schedule = "{ name: a, dates: [{ start: '2027-11-26', end: '2027-11-27' }], minReplicas: 5 }";

    const fields = await fieldsOf(`${MINIMAL}  schedules: [${schedule}]\n`);

    expect(fields.get('spec.schedules[0].minReplicas')).toBe('5 document');
    expect(fields.get('spec.schedules[0].timeZone')).toBe('"UTC" built in');
    expect(fields.get('spec.schedules[0].rampSeconds')).toBe('0 built in');
  });

  it('distinguishes the origins preset, document and built-in value', async () => {
    const fields = await fieldsOf(`${MINIMAL}  preset: chpa\n  downscaleForbiddenWindowSeconds: 60\n`);

    expect(fields.get('spec.preset')).toBe('"chpa" document');
    expect(fields.get('spec.upscaleForbiddenWindowSeconds')).toBe('300 preset chpa');
    expect(fields.get('spec.downscaleForbiddenWindowSeconds')).toBe('60 document');
    expect(fields.get('spec.scaleUpLimitFactor')).toBe('2 preset chpa');
    expect(fields.get('spec.tolerance')).toBe('0.1 built in');
  });

  it('does not attribute the factor to a preset that does not set it', async () => {
    const fields = await fieldsOf(`${MINIMAL}  preset: hpa-1.11\n`);

    expect(fields.get('spec.scaleUpLimitFactor')).toBe('2 built in');
    expect(fields.get('spec.upscaleForbiddenWindowSeconds')).toBe('180 preset hpa-1.11');
  });

  it('names the service defaults, which the document overrides', async () => {
    const service =
      'defaults: { preset: chpa, minReplicas: 2, tolerance: 0.2, metrics: [{ resource: { name: memory, target: { averageUtilization: 70 } } }] }';

    const fields = await fieldsOf(
      `${MINIMAL}  tolerance: 100m\n  upscaleForbiddenWindowSeconds: null\n`,
      service,
    );

    expect(fields.get('spec.minReplicas')).toBe('2 service defaults');
    expect(fields.get('spec.preset')).toBe('"chpa" service defaults');
    expect(fields.get('spec.upscaleForbiddenWindowSeconds')).toBe('300 preset chpa');
    expect(fields.get('spec.tolerance')).toBe('"100m" document');
    expect(fields.get('spec.metrics[0].resource.name')).toBe('"memory" service defaults');
  });

  it('names the field that determined another one', async () => {
    const fields = await fieldsOf(`${MINIMAL}  tolerance: 0.2
  behavior: { scaleDown: { policies: [{ type: Pods, value: 1, periodSeconds: 60 }] } }
  metrics:
    - pods: { query: 'sum by (pod) (rate(requests_total[1m]))', target: { averageValue: 2k } }
`);

    const path = 'spec.metrics[0].pods';
    expect(fields.get('spec.behavior.scaleUp.tolerance')).toBe('0.2 document by spec.tolerance');
    expect(fields.get('spec.behavior.scaleDown.stabilizationWindowSeconds')).toBe(
      '300 built in by spec.downscaleStabilizationSeconds',
    );
    expect(fields.get('spec.behavior.scaleDown.policies[0].value')).toBe('1 document');
    expect(fields.get('spec.behavior.scaleUp.policies[1].value')).toBe('100 built in');
    expect(fields.get('spec.scaleUpLimitFactor')).toBe('null built in by spec.behavior');
    expect(fields.get(`${path}.metric.name`)).toBe(`"requests_total" document by ${path}.query`);
    expect(fields.get(`${path}.target.type`)).toBe(`"AverageValue" document by ${path}.target.averageValue`);
    expect(fields.get(`${path}.target.averageValue`)).toBe('"2k" document');
  });

  it.each([
    ['', '300 built in'],
    ['  downscaleStabilizationSeconds: 60\n', '60 document'],
  ])('names the field of behavior that replaces downscaleStabilizationSeconds: %j', async (field, shown) => {
    const behavior = (rules: string): string => `${MINIMAL}${field}  behavior: { ${rules} }\n`;
    const shownOf = async (rules: string): Promise<unknown> =>
      (await fieldsOf(behavior(rules))).get('spec.downscaleStabilizationSeconds');

    expect(await shownOf('scaleDown: { stabilizationWindowSeconds: 240 }')).toBe(
      `${shown} replaced by spec.behavior.scaleDown.stabilizationWindowSeconds`,
    );
    expect(await shownOf('scaleDown: { selectPolicy: Min }')).toBe(shown);
  });

  it.each([
    ['both directions', 'scaleUp: { tolerance: 0.1 }, scaleDown: { tolerance: 0.3 }', 'by spec.behavior'],
    ['scale-ups', 'scaleUp: { tolerance: 0.1 }', 'for scale-ups by spec.behavior.scaleUp.tolerance'],
    ['scale-downs', 'scaleDown: { tolerance: 0 }', 'for scale-downs by spec.behavior.scaleDown.tolerance'],
  ])('names the field of behavior that replaces tolerance for %s', async (_, rules, by) => {
    const fields = await fieldsOf(`${MINIMAL}  tolerance: 0.2\n  behavior: { ${rules} }\n`);

    expect(fields.get('spec.tolerance')).toBe(`0.2 document replaced ${by}`);
    expect((await fieldsOf(`${MINIMAL}  tolerance: 0.2\n  behavior: {}\n`)).get('spec.tolerance')).toBe(
      '0.2 document',
    );
  });

  it.each([
    [
      'a target, by a measured capacity that is used',
      '  metrics: [{ external: { query: sum(x), target: { averageValue: 9 }, capacity: { auto: { mode: Use, served: { query: sum(y) } } } } }]\n',
      'spec.metrics[0].external.target.averageValue',
      '9 document replaced while it has a value by spec.metrics[0].external.capacity',
    ],
    [
      'no target, by a capacity that is observed',
      '  metrics: [{ external: { query: sum(x), target: { averageValue: 9 }, capacity: { auto: { served: { query: sum(y) } } } } }]\n',
      'spec.metrics[0].external.target.averageValue',
      '9 document',
    ],
    [
      'a bound, by a schedule',
      '  schedules: [{ name: day, start: 0 8 * * *, end: 0 20 * * *, minReplicas: 3 }]\n',
      'spec.minReplicas',
      '1 built in replaced while it is active by spec.schedules[0].minReplicas',
    ],
    [
      'no bound that no schedule has',
      '  schedules: [{ name: day, start: 0 8 * * *, end: 0 20 * * *, minReplicas: 3 }]\n',
      'spec.maxReplicas',
      '60 document',
    ],
    [
      'the policies of a disabled direction',
      '  behavior: { scaleDown: { selectPolicy: Disabled } }\n',
      'spec.behavior.scaleDown.policies[0].value',
      '100 built in replaced by spec.behavior.scaleDown.selectPolicy',
    ],
    [
      'fillPercent 95, by a target of 96 % of the requests',
      '  forecast: {}\n  metrics: [{ resource: { name: cpu, target: { averageUtilization: 96 } } }]\n',
      'spec.forecast.fillPercent',
      '95 built in replaced by spec.metrics[0]',
    ],
    [
      'no fillPercent above the target',
      '  forecast: {}\n  metrics: [{ resource: { name: cpu, target: { averageUtilization: 60 } } }]\n',
      'spec.forecast.fillPercent',
      '95 built in',
    ],
  ])('names the field that replaces %s', async (_, spec, path, shown) => {
    expect((await fieldsOf(`${MINIMAL}${spec}`)).get(path)).toBe(shown);
  });

  it('prints a guard and a freshness as written, and none if unset', async () => {
    const metric = "query: sum(x), target: { value: 1 }, guard: 'up == 1'";
    const fields = await fieldsOf(
      `${MINIMAL}  metrics: [{ external: { ${metric}, freshness: { query: f, maxAgeSeconds: 60 } } }, { object: { ${metric} } }]\n`,
    );

    expect(fields.get('spec.metrics[0].external.guard')).toBe('"up == 1" document');
    expect(fields.get('spec.metrics[0].external.freshness.maxAgeSeconds')).toBe('60 document');
    expect(fields.get('spec.metrics[1].object.freshness')).toBe('null built in');
  });

  it('prints the limits of scale-down as written, and reports that there are none', async () => {
    const none = await fieldsOf(MINIMAL);
    const some = await fieldsOf(
      `${MINIMAL}  downscaleConfirmation: { decisions: 5 }\n  maxScaleDownPercentPerWindow: 40\n`,
    );

    expect(none.get('spec.downscaleConfirmation')).toBe('null built in');
    expect(none.get('spec.maxScaleDownPercentPerWindow')).toBe('null built in');
    expect(none.get('spec.podWarmupSeconds')).toBe('0 built in');
    expect(some.get('spec.downscaleConfirmation.seconds')).toBe('60 built in');
    expect(some.get('spec.downscaleConfirmation.decisions')).toBe('5 document');
    expect(some.get('spec.maxScaleDownPercentPerWindow')).toBe('40 document');
  });

  it('prints the valid documents of a file, and exits with 1 for the invalid one', async () => {
    const wrong = MINIMAL.replace('name: checkout,', 'name: wrong,').replace('60', '0');

    const { exitCode, stdout, stderr } = await runCli(['show', '-'], { stdin: `${MINIMAL}---\n${wrong}` });

    expect(exitCode).toBe(1);
    expect(stdout).toContain('# shop/checkout');
    expect(stdout).not.toContain('shop/wrong');
    expect(stderr).toContain('-:13:16: error: spec.maxReplicas is 0, must be at least 1');
  });

  it('prints no control character of a document on the terminal', async () => {
    const text = `${MINIMAL}  metrics: [{ external: { metric: { name: "a\\e[2J\\u009b" }, query: x, target: { value: 1 } } }]\n`;

    const { stdout } = await runCli(['show', '-'], { stdin: text });

    // eslint-disable-next-line no-control-regex -- these are what must not be there
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  });

  it.each([
    [['show', 'nowhere.yaml'], 1, 'no such file or directory'],
    [['show', '.'], 1, 'this is a directory, not a file'],
    [['show', 'minimal.yaml', '-o', 'xml'], 2, 'must be one of text, yaml, json'],
    [['show', 'minimal.yaml', '--config', 'nowhere.yaml'], 1, 'no such file or directory'],
  ])('%j ends with %i: %s', async (argv, exitCode, sentence) => {
    const ran = await runCli(argv, { cwd: EXAMPLES });

    expect([ran.exitCode, ran.stdout]).toEqual([exitCode, '']);
    expect(ran.stderr).toContain(sentence);
  });
});

describe('full.yaml', () => {
  it('has every field of spec in its rows', async () => {
    const shown = [...(await fieldsOf(readFileSync(join(EXAMPLES, 'full.yaml'), 'utf8'))).keys()];

    // Schedules have rows only for each of them.
    const fields = schemaRows(documentJsonSchema())
      .map(({ path }) => path)
      .filter((path) => /^spec\.\w+$/.test(path) && path !== 'spec.schedules');
    expect(fields.length).toBeGreaterThan(20);
    const tops = new Set(shown.map((path) => /^spec\.\w+/.exec(path)?.[0]));
    expect(fields.filter((path) => !tops.has(path))).toEqual([]);
  });

  it('lists every field of the minimal document at its default', async () => {
    const twin = MINIMAL.replaceAll('checkout', 'checkout-full');
    const full = readFileSync(join(EXAMPLES, 'full.yaml'), 'utf8');

    const [a] = readScalers(full, 'full.yaml').scalers;
    const [b] = readScalers(twin, 'minimal.yaml').scalers;
    // Next to `behavior` alone it matters whether the limit was written; neither document has one.
    expect({ ...a?.spec, scaleUpLimit: { ...a?.spec.scaleUpLimit, isExplicit: false } }).toEqual(b?.spec);
    // behavior, downscaleConfirmation and maxScaleDownPercentPerWindow have no value by default.
    const shown = [...(await fieldsOf(twin))].flatMap(([path, value]) =>
      value === 'null built in' ? [] : [path],
    );
    const written = leavesOf(parse(full), '');
    expect(written.filter((path) => !/^metadata\.(labels|annotations)$/.test(path))).toEqual(shown);
  });
});

function leavesOf(value: unknown, path: string): readonly string[] {
  if (Array.isArray(value))
    return value.flatMap((item: unknown, index) => leavesOf(item, `${path}[${index}]`));
  if (!isPlainObject(value) || Object.keys(value).length === 0) return [path];
  return Object.entries(value).flatMap(([key, member]) =>
    leavesOf(member, path === '' ? key : `${path}.${key}`),
  );
}
