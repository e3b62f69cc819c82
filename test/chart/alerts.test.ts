import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { parse, stringify } from 'yaml';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import { findPromtool } from '../programs/find-programs.js';
import { METRIC_TABLE } from '../../src/telemetry/metric-table.js';
import {
  CHART,
  HELM_TIMEOUT_MS,
  ROOT,
  at,
  isMapping,
  listAt,
  pick,
  render,
  startHelm,
  textAt,
} from './helm.js';
import { type Case, CASES, WEB, counts } from './alert-cases.js';
import type { Rendered } from './helm.js';
import { STATES, STATE_NAMES } from '../../src/decision/severity.js';
import { ALERT_OF, alertsOfStates } from './state-alerts.js';
import { STATE_CASES } from '../telemetry/state-cases.js';

jest.setTimeout(HELM_TIMEOUT_MS);

const directory = mkdtempSync(join(tmpdir(), 'alerts-'));
let promtool = '';
let rules: Rendered = {};

beforeAll(async () => {
  promtool = await findPromtool({ env: process.env, clock: SYSTEM_CLOCK });
  const values = { prometheusRule: { enabled: true }, serviceMonitor: { enabled: true } };
  const spec = pick(render(await startHelm(), values), 'PrometheusRule')['spec'];
  if (!isMapping(spec)) throw new Error('there are no rules');
  rules = spec;
  writeFileSync(join(directory, 'rules.yaml'), stringify(spec));
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

function run(...args: readonly string[]): { readonly status: number | null; readonly said: string } {
  const { status, stdout, stderr } = spawnSync(promtool, args, { cwd: directory, encoding: 'utf8' });
  return { status, said: `${stdout}${stderr}` };
}

const ALL = Object.entries(CASES).flatMap(([alert, cases]) =>
  Object.entries(cases).map(
    ([what, one]) => [one.fires === null ? 'keeps quiet' : 'fires', alert, what, one] as const,
  ),
);

const rendered = (): readonly unknown[] => listAt(rules, 'groups').flatMap((group) => listAt(group, 'rules'));

/** Returns the alert as Alertmanager gets it: labels of the rule and of the series, with `$labels` replaced. */
function expected(alert: string, labels: Readonly<Record<string, string>>, value: string): Rendered {
  const rule = rendered().find((one) => at(one, 'alert') === alert);
  const fill = (text: string): string =>
    text
      .replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, name: string) => labels[name] ?? 'NONE')
      .replaceAll('{{ $value }}', value);
  return {
    exp_labels: { ...(at(rule, 'labels') as Rendered), ...labels },
    exp_annotations: {
      summary: fill(textAt(rule, 'annotations', 'summary')),
      description: fill(textAt(rule, 'annotations', 'description')),
      runbook_url: textAt(rule, 'annotations', 'runbook_url'),
    },
  };
}

const nameOf = (alert: string, what: string): string => `${alert} for ${what}`;

/** Writes the tests of an alert, with only its rule: promtool evaluates each rule every minute of each test. */
function writeTests(alert: string): string {
  const rules = rendered().filter((rule) => at(rule, 'alert') === alert);
  writeFileSync(join(directory, `${alert}.rules.yaml`), stringify({ groups: [{ name: alert, rules }] }));
  const tests = ALL.filter(([, name]) => name === alert).map(ruleTest);
  const file = { rule_files: [`${alert}.rules.yaml`], evaluation_interval: '1m', tests };
  writeFileSync(join(directory, `${alert}.test.yaml`), stringify(file));
  return `${alert}.test.yaml`;
}

const inputOf = (series: Case['series']): readonly Rendered[] =>
  Object.entries(series).map(([name, values]) => ({ series: name, values }));

function ruleTest([, alertname, what, { series, at: eval_time, fires }]: (typeof ALL)[number]): Rendered {
  const recommended = Object.entries(series).find(([name]) => name.includes('_recommended_'));
  const value = recommended?.[1].split('x')[0] ?? '';
  const exp_alerts = fires === null ? [] : [expected(alertname, fires, value)];
  return {
    name: nameOf(alertname, what),
    interval: '1m',
    input_series: inputOf(series),
    alert_rule_test: [{ eval_time, alertname, exp_alerts }],
  };
}

/** Alerts with a cause that no state has, and that may fire next to the alert of a state. */
const BESIDE_STATES = ['PromscalerCeilingUnknown', 'PromscalerCapacityChanged'];

const ALERTS_OF_SCALERS = Object.keys(CASES).filter((alert) =>
  Object.values(CASES[alert] ?? {}).some(({ fires }) => fires !== null && 'scaler' in fires),
);

/** Runs the rules about scalers for a day on the metrics of `STATE_CASES`. */
async function runOnStates(): Promise<ReturnType<typeof run>> {
  const { series, fires } = await alertsOfStates();
  const alert_rule_test = ALERTS_OF_SCALERS.filter((alert) => !BESIDE_STATES.includes(alert)).map(
    (alertname) => ({
      eval_time: '24h',
      alertname,
      exp_alerts: fires
        .filter(({ alert }) => alert === alertname)
        .map(({ scaler, recommended }) => expected(alertname, { namespace: 'shop', scaler }, recommended)),
    }),
  );
  const file = {
    rule_files: ['rules.yaml'],
    evaluation_interval: '5m',
    tests: [{ interval: '5m', input_series: inputOf(series), alert_rule_test }],
  };
  writeFileSync(join(directory, 'states.test.yaml'), stringify(file));
  return run('test', 'rules', 'states.test.yaml');
}

describe('the alerts of the chart', () => {
  it('are valid according to promtool', () => {
    expect(run('check', 'rules', 'rules.yaml')).toMatchObject({
      status: 0,
      said: expect.stringContaining(`SUCCESS: ${Object.keys(CASES).length} rules found`),
    });
  });

  it('are all tested, each so that it fires and so that it does not', () => {
    expect(rendered().map((rule) => at(rule, 'alert'))).toEqual(Object.keys(CASES));
    for (const cases of Object.values(CASES)) {
      const sides = new Set(Object.values(cases).map(({ fires }) => fires === null));
      expect(sides).toEqual(new Set([true, false]));
    }
  });

  describe('in a run of promtool', () => {
    let result: ReturnType<typeof run> = { status: null, said: '' };

    beforeAll(() => {
      result = run('test', 'rules', ...Object.keys(CASES).map(writeTests));
    });

    it('are evaluated', () => {
      expect(result).toEqual({ status: 0, said: expect.stringContaining('SUCCESS') });
    });

    it.each(ALL)('%s: %s for %s', (_side, alert, what) => {
      // promtool quotes the name of a test that failed, and says what it got.
      const [, difference = ''] = result.said.split(`name: ${nameOf(alert, what)},`);

      expect(difference.split('\n    name: ')[0]).toBe('');
    });
  });

  it(`are exactly one for each of ${STATE_CASES.length} scalers that cannot follow or are held, by its state`, async () => {
    const severityOf = new Map(
      rendered().map((rule) => [at(rule, 'alert'), at(rule, 'labels', 'severity')] as const),
    );
    for (const state of STATE_NAMES) {
      const severity = { 'cannot-follow': 'warning', held: 'info', waiting: null, idle: null, ok: null };
      expect([state, severityOf.get(ALERT_OF[state]) ?? null]).toEqual([state, severity[STATES[state]]]);
    }

    expect(await runOnStates()).toEqual({ status: 0, said: expect.stringContaining('SUCCESS') });
  });

  it('use only metrics, types and labels that the service has', () => {
    const metrics = new Map(METRIC_TABLE.map(({ name, labels }) => [name, labels]));
    for (const rule of rendered()) {
      const expr = textAt(rule, 'expr');
      for (const [, name = '', matchers = ''] of expr.matchAll(/(promscaler_\w+)\{([^}]*)\}/g)) {
        const labels = metrics.get(name.replace(/_bucket$/, ''));
        expect({ name, isKnown: labels !== undefined }).toEqual({ name, isKnown: true });
        const asked = Array.from(matchers.matchAll(/(\w+)(?:=~|!~|!=|=)"/g), ([, label = '']) => label);
        expect(asked.filter((label) => ![...(labels ?? []), 'job', 'namespace'].includes(label))).toEqual([]);
      }
    }
  });

  it('are in the README with severity and time', () => {
    const readme = readFileSync(join(CHART, 'README.md'), 'utf8');
    const rows = Array.from(readme.matchAll(/^\| `(Promscaler\w+)` \| (\w+) \| (\w+) \|/gm), (row) =>
      row.slice(1),
    );

    expect(rows).toEqual(
      rendered().map((rule) => [at(rule, 'alert'), at(rule, 'labels', 'severity'), at(rule, 'for')]),
    );
  });

  it('have the defaults of the settings, and each a section in the guide to which it links', () => {
    const guide = readFileSync(join(ROOT, 'docs/guides/alerts.md'), 'utf8');
    const sections = new Map(
      guide
        .split(/^## /m)
        .slice(1)
        .map((text) => [text.slice(0, text.indexOf('\n')), text]),
    );
    const { sources = [] } = parse(readFileSync(join(CHART, 'Chart.yaml'), 'utf8')) as { sources?: string[] };
    // Without a repository in the chart, the path in the project.
    const page = [...sources.slice(0, 1), 'docs/guides/alerts.md'].join('/blob/main/');
    for (const rule of rendered()) {
      const name = textAt(rule, 'alert');
      const url = `${page}#${name.toLowerCase()}`;
      expect(textAt(rule, 'annotations', 'runbook_url')).toBe(url);
      const parts = ['**What it means.**', '**See why.**', '**What to do.**'];
      expect([name, parts.filter((part) => sections.get(name)?.includes(part) !== true)]).toEqual([name, []]);
    }
    const described = [...sections.keys()].filter((title) => title.startsWith('Promscaler'));
    expect(described).toEqual(rendered().map((rule) => at(rule, 'alert')));
  });

  it('take the settings of the values', async () => {
    const prometheusRule = {
      enabled: true,
      job: 'x',
      alertLabels: { team: 'platform' },
      runbookUrl: 'https://wiki.example.com/page',
      alerts: {
        PromscalerLate: { threshold: 2.5, severity: 'info', for: '3m', keepFiringFor: '10m' },
        PromscalerSourceFailing: { threshold: 0.07 },
        PromscalerPaused: { enabled: false },
      },
    };
    const { spec } = pick(render(await startHelm(), { prometheusRule }), 'PrometheusRule');
    writeFileSync(join(directory, 'set.yaml'), stringify(spec));
    const rules = listAt(listAt(spec, 'groups')[0], 'rules');
    const find = (name: string): unknown => rules.find((rule) => at(rule, 'alert') === name);

    expect(run('check', 'rules', 'set.yaml').status).toBe(0);
    expect(find('PromscalerLate')).toMatchObject({
      for: '3m',
      keep_firing_for: '10m',
      expr: expect.stringMatching(/> 2\.5$/),
      labels: { severity: 'info', namespace: 'ops', team: 'platform' },
      annotations: { runbook_url: 'https://wiki.example.com/page#promscalerlate' },
    });
    expect(textAt(find('PromscalerSourceFailing'), 'annotations', 'summary')).toContain('More than 7 % ');
    expect(find('PromscalerPaused')).toBeUndefined();
    expect(rules).toHaveLength(Object.keys(CASES).length - 1);
  });

  it('are valid if each fires at once', async () => {
    const alerts = Object.fromEntries(Object.keys(CASES).map((alert) => [alert, { for: '0s' }]));
    const { spec } = pick(
      render(await startHelm(), { prometheusRule: { enabled: true, job: 'x', alerts } }),
      'PrometheusRule',
    );
    writeFileSync(join(directory, 'at-once.yaml'), stringify(spec));

    expect(run('check', 'rules', 'at-once.yaml').status).toBe(0);
  });

  it('are for the configured job, in PromQL that is still valid', async () => {
    const values = { prometheusRule: { enabled: true, job: 'a "b" #c: d' } };
    const { spec } = pick(render(await startHelm(), values), 'PrometheusRule');
    writeFileSync(join(directory, 'other.yaml'), stringify(spec));

    expect(run('check', 'rules', 'other.yaml').status).toBe(0);
    expect(JSON.stringify(spec)).not.toContain('rel-promscaler\\"');
  });

  it('are rendered only if enabled', async () => {
    const values = { serviceMonitor: { enabled: true } };

    expect(render(await startHelm(), values).map(({ kind }) => kind)).not.toContain('PrometheusRule');
  });
});

/** All blocks of the documentation that contain Prometheus rules. */
const PAGES_WITH_RULES = [
  'README.md',
  ...['docs', 'config', 'charts', 'test', 'src'].flatMap(pagesBelow),
].flatMap((page) =>
  Array.from(
    readFileSync(join(ROOT, page), 'utf8').matchAll(/^```\w*\n([\s\S]*?)^```/gm),
    ([, text = '']) => text,
  )
    .filter((text) => /^\s*(- )?(alert|record): /m.test(text))
    .map((text, index) => [`${page}, ${index + 1}`, text] as const),
);

function pagesBelow(name: string): readonly string[] {
  return readdirSync(join(ROOT, name), { recursive: true })
    .map((page) => join(name, String(page)))
    .filter((page) => page.endsWith('.md'));
}

describe('rules in the documentation', () => {
  it('are found', () => {
    expect(PAGES_WITH_RULES.map(([page]) => page)).toContain('docs/guides/monitoring.md, 1');
  });

  it.each(PAGES_WITH_RULES)('%s: promtool accepts them', (_, text) => {
    writeFileSync(join(directory, 'manual.yaml'), text);

    expect(run('check', 'rules', 'manual.yaml')).toMatchObject({ status: 0 });
  });

  it.each([
    ['WorkloadCannotFollow fires', '10m', 'WorkloadCannotFollow', 'NoData', 'does not follow its load'],
    ['WorkloadCannotFollow keeps quiet for 9 minutes', '9m', 'WorkloadCannotFollow', 'NoData', null],
    ['WorkloadCannotFollow keeps quiet in another severity', '30m', 'WorkloadCannotFollow', 'Starting', null],
    ['ScaleUpDelayed fires', '30m', 'ScaleUpDelayed', 'Backoff', 'has had fewer than 8 replicas for 30m'],
    ['ScaleUpDelayed keeps quiet for 29 minutes', '29m', 'ScaleUpDelayed', 'Backoff', null],
    ['ScaleUpDelayed keeps quiet in another severity', '40m', 'ScaleUpDelayed', 'AtMaximum', null],
  ] as const)('%s', (_, eval_time, alertname, state, what) => {
    const [, text = ''] = PAGES_WITH_RULES.find(([page]) => page === 'docs/guides/monitoring.md, 1') ?? [];
    writeFileSync(join(directory, 'manual.yaml'), text);
    const alert = { exp_labels: WEB, exp_annotations: { summary: `shop/web ${what}` } };
    const { series } = counts(state, { recommended: 8, current: 5 }, eval_time);
    const test = {
      interval: '1m',
      input_series: inputOf(series),
      alert_rule_test: [{ eval_time, alertname, exp_alerts: what === null ? [] : [alert] }],
    };
    writeFileSync(
      join(directory, 'manual-test.yaml'),
      stringify({ rule_files: ['manual.yaml'], evaluation_interval: '1m', tests: [test] }),
    );

    expect(run('test', 'rules', 'manual-test.yaml')).toEqual({
      status: 0,
      said: expect.stringContaining('SUCCESS'),
    });
  });
});
