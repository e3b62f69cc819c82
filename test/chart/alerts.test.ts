import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { stringify } from 'yaml';
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
import type { Rendered } from './helm.js';

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

/** Metrics of the service have the scraped namespace `ops`, metrics of a scaler have its own. */
const service = (name: string, more = ''): string => `${name}{job="rel-promscaler",namespace="ops"${more}}`;
const condition = (type: string, status: string, reason: string, scaler = 'web'): string =>
  `promscaler_condition{job="rel-promscaler",namespace="shop",scaler="${scaler}",type="${type}",status="${status}",reason="${reason}"}`;

interface Case {
  /** Selector -> values, one per minute, in the notation of promtool. */
  readonly series: Readonly<Record<string, string>>;
  readonly at: string;
  /** The `$labels` of the alert; null: no alert. */
  readonly fires: Readonly<Record<string, string>> | null;
}

const WEB = { namespace: 'shop', scaler: 'web' };
const OPS = { namespace: 'ops' };
const during = (selector: string, minute: string, fires: Case['fires'] = null): Case => ({
  series: { [selector]: '1x60' },
  at: minute,
  fires,
});
const leader = service('promscaler_leader', ',pod="a"');
const standby = service('promscaler_leader', ',pod="b"');
const missed = service('promscaler_missed_rounds_total');
const errors = service('promscaler_query_errors_total', ',source="default",reason="timeout"');
const queries = service('promscaler_queries_total', ',source="default"');
const late = (le: string): string => service('promscaler_sync_lateness_seconds_bucket', `,le="${le}"`);

/** Alert -> situation -> whether it fires. */
const CASES: Readonly<Record<string, Readonly<Record<string, Case>>>> = {
  PromscalerNotWorking: {
    'no metrics for 5 minutes': { series: {}, at: '5m', fires: OPS },
    'no metrics for 4 minutes': { series: {}, at: '4m', fires: null },
    'two standbys': { series: { [leader]: '0x60', [standby]: '0x60' }, at: '5m', fires: OPS },
    'a leader next to a standby': {
      series: { [leader]: '1x60', [standby]: '0x60' },
      at: '30m',
      fires: null,
    },
    'a hand-over with 2 minutes between': {
      series: { [leader]: '1x9 0x60', [standby]: '0x11 1x60' },
      at: '20m',
      fires: null,
    },
    'a leader of another namespace alone': {
      series: { 'promscaler_leader{job="rel-promscaler",namespace="other"}': '1x60' },
      at: '5m',
      fires: OPS,
    },
  },
  PromscalerWithoutMetrics: {
    'no value for 10 minutes': during(
      condition('ScalingActive', 'False', 'FailedGetResourceMetric'),
      '10m',
      WEB,
    ),
    'no value for 9 minutes': during(condition('ScalingActive', 'False', 'FailedGetResourceMetric'), '9m'),
    'one reason after the other': {
      series: {
        [condition('ScalingActive', 'False', 'FailedGetResourceMetric')]: '1x5 _x60',
        [condition('ScalingActive', 'False', 'FailedGetPodsMetric')]: '_x6 1x60',
      },
      at: '10m',
      fires: WEB,
    },
    'a fallback in use': during(condition('ScalingActive', 'True', 'FallbackActive'), '10m', WEB),
    'a workload that a person has set to 0': during(
      condition('ScalingActive', 'False', 'ScalingDisabled'),
      '30m',
    ),
    'a value': during(condition('ScalingActive', 'True', 'ValidMetricFound'), '30m'),
    'a value that came back after 8 minutes': {
      series: {
        [condition('ScalingActive', 'False', 'FailedGetResourceMetric')]: '1x8 _x60',
        [condition('ScalingActive', 'True', 'ValidMetricFound')]: '_x9 1x60',
      },
      at: '30m',
      fires: null,
    },
  },
  PromscalerSourceFailing: {
    'all queries': {
      series: { [errors]: '0+60x60', [queries]: '0+60x60' },
      at: '30m',
      fires: { source: 'default' },
    },
    'half of them': { series: { [errors]: '0+30x60', [queries]: '0+60x60' }, at: '30m', fires: null },
    'all of them for 5 minutes': {
      series: { [errors]: '0+60x5 300x60', [queries]: '0+60x60' },
      at: '13m',
      fires: null,
    },
  },
  PromscalerCannotScale: {
    'a target that is gone': during(condition('AbleToScale', 'False', 'FailedGetScale'), '10m', WEB),
    'a patch that is refused': during(condition('AbleToScale', 'False', 'FailedUpdateScale'), '10m', WEB),
    'another autoscaler': during(condition('Held', 'True', 'ConflictingScaler'), '10m', WEB),
    'a webhook that changes it': during(condition('Held', 'True', 'ScaleOverridden'), '10m', WEB),
    'a forbidden window': during(condition('AbleToScale', 'False', 'BackoffDownscale'), '30m'),
    'a dry run': during(condition('Held', 'True', 'DryRun'), '30m'),
    'a target that is gone for 9 minutes': during(condition('AbleToScale', 'False', 'FailedGetScale'), '9m'),
  },
  PromscalerStateDegraded: {
    'state that cannot be stored': during(condition('Held', 'True', 'StateDegraded'), '5m', WEB),
    'for 4 minutes': during(condition('Held', 'True', 'StateDegraded'), '4m'),
    'a pause': during(condition('Held', 'True', 'Paused'), '30m'),
  },
  PromscalerTargetNotReached: {
    'pods without a node': during(condition('TargetReached', 'False', 'Unschedulable'), '15m', WEB),
    'for 14 minutes': during(condition('TargetReached', 'False', 'Unschedulable'), '14m'),
    'pods that crash': during(condition('TargetReached', 'False', 'NotReady'), '15m', WEB),
    'pods that start': during(condition('TargetReached', 'False', 'Starting'), '30m'),
    'a rollout that a person has paused': during(condition('TargetReached', 'False', 'RolloutPaused'), '30m'),
    'all pods ready': during(condition('TargetReached', 'True', 'Reached'), '30m'),
  },
  PromscalerConfigProblems: {
    'one problem': during(service('promscaler_config_problems'), '5m', OPS),
    'one problem for 4 minutes': during(service('promscaler_config_problems'), '4m'),
    'documents that could not be read': {
      series: { [service('promscaler_config_last_reload_successful')]: '0x60' },
      at: '5m',
      fires: OPS,
    },
    neither: {
      series: {
        [service('promscaler_config_problems')]: '0x60',
        [service('promscaler_config_last_reload_successful')]: '1x60',
      },
      at: '30m',
      fires: null,
    },
  },
  PromscalerLate: {
    'a round skipped each minute': { series: { [missed]: '0+1x60' }, at: '30m', fires: OPS },
    'one round skipped': { series: { [missed]: '0x10 1x60' }, at: '20m', fires: null },
    'every round 5 to 10 s late': {
      series: { [late('5')]: '0x60', [late('10')]: '0+4x60', [late('+Inf')]: '0+4x60' },
      at: '30m',
      fires: OPS,
    },
    'every round up to 5 s late': {
      series: { [late('5')]: '0+4x60', [late('10')]: '0+4x60', [late('+Inf')]: '0+4x60' },
      at: '30m',
      fires: null,
    },
  },
};

const ALL = Object.entries(CASES).flatMap(([alert, cases]) =>
  Object.entries(cases).map(
    ([what, one]) => [one.fires === null ? 'keeps quiet' : 'fires', alert, what, one] as const,
  ),
);

const rendered = (): readonly unknown[] => listAt(rules, 'groups').flatMap((group) => listAt(group, 'rules'));

/** Returns the alert as Alertmanager gets it: labels of the rule and of the series, with `$labels` replaced. */
function expected(alert: string, labels: Readonly<Record<string, string>>): Rendered {
  const rule = rendered().find((one) => at(one, 'alert') === alert);
  const fill = (text: string): string =>
    text.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, name: string) => labels[name] ?? 'NONE');
  return {
    exp_labels: { ...(at(rule, 'labels') as Rendered), ...labels },
    exp_annotations: {
      summary: fill(textAt(rule, 'annotations', 'summary')),
      description: fill(textAt(rule, 'annotations', 'description')),
    },
  };
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

  it.each(ALL)('%s: %s for %s', (_side, alertname, _what, { series, at: eval_time, fires }) => {
    const test = {
      interval: '1m',
      input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
      alert_rule_test: [
        { eval_time, alertname, exp_alerts: fires === null ? [] : [expected(alertname, fires)] },
      ],
    };
    writeFileSync(
      join(directory, 'test.yaml'),
      stringify({ rule_files: ['rules.yaml'], evaluation_interval: '1m', tests: [test] }),
    );

    expect(run('test', 'rules', 'test.yaml')).toEqual({
      status: 0,
      said: expect.stringContaining('SUCCESS'),
    });
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
    ['fires after 10 minutes without a node', '10m', 'Unschedulable', true],
    ['keeps quiet for 9', '9m', 'Unschedulable', false],
    ['keeps quiet while pods start', '30m', 'Starting', false],
  ])('WorkloadShortOfPods %s', (_, eval_time, reason, fires) => {
    const [, text = ''] = PAGES_WITH_RULES.find(([page]) => page === 'docs/guides/monitoring.md, 1') ?? [];
    writeFileSync(join(directory, 'manual.yaml'), text);
    const alert = {
      exp_labels: { ...WEB, job: 'rel-promscaler', type: 'TargetReached', status: 'False', reason },
      exp_annotations: { summary: 'shop/web lacks pods: Unschedulable' },
    };
    const test = {
      interval: '1m',
      input_series: [{ series: condition('TargetReached', 'False', reason), values: '1x60' }],
      alert_rule_test: [{ eval_time, alertname: 'WorkloadShortOfPods', exp_alerts: fires ? [alert] : [] }],
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
