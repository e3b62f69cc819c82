import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, jest } from '@jest/globals';
import { documentJsonSchema, serviceJsonSchema } from '../src/cli/schema/json-schema.js';
import { HELM_TIMEOUT_MS, startHelm } from './chart/helm.js';
import { ALERT_OF } from './chart/state-alerts.js';
import { STATES, STATE_NAMES } from '../src/decision/severity.js';
import { readScalers } from '../src/scaler/read/read-scalers.js';
import { runCli } from './cli/fake-io.js';
import { codeBlocksOf } from './docs/code-blocks.js';
import { PAGES, ROOT, readPage, tableRows } from './docs/pages.js';
import { schemaRows } from './docs/schema-rows.js';

jest.setTimeout(HELM_TIMEOUT_MS);

const FIELDS = new Set(
  [...schemaRows(documentJsonSchema()), ...schemaRows(serviceJsonSchema())].map(({ path }) => path),
);

const RULES = [
  'stabilizationWindowSeconds',
  'selectPolicy',
  'policies[].type',
  'policies[].value',
  'policies[].periodSeconds',
  'tolerance',
];
const METRIC = ['metric.name', 'metric.selector', 'target'];

/** The fields of an HPA of autoscaling/v2, as in the API reference of Kubernetes 1.35. */
const HPA_SPEC = [
  ...[
    'scaleTargetRef.apiVersion',
    'scaleTargetRef.kind',
    'scaleTargetRef.name',
    'minReplicas',
    'maxReplicas',
  ],
  ...['metrics', 'metrics[].type', 'metrics[].resource.name', 'metrics[].resource.target'],
  ...['name', 'container', 'target'].map((field) => `metrics[].containerResource.${field}`),
  ...METRIC.map((field) => `metrics[].pods.${field}`),
  ...['apiVersion', 'kind', 'name'].map((field) => `metrics[].object.describedObject.${field}`),
  ...METRIC.map((field) => `metrics[].object.${field}`),
  ...METRIC.map((field) => `metrics[].external.${field}`),
  ...RULES.map((field) => `behavior.scaleUp.${field}`),
  ...RULES.map((field) => `behavior.scaleDown.${field}`),
].map((field) => `spec.${field}`);

const HPA_STATUS = [
  'currentReplicas',
  'desiredReplicas',
  'lastScaleTime',
  'observedGeneration',
  'currentMetrics',
  'conditions',
];

/** Of kube-controller-manager; the last three are of versions before 1.12. */
const FLAGS = [
  '--horizontal-pod-autoscaler-sync-period',
  '--horizontal-pod-autoscaler-tolerance',
  '--horizontal-pod-autoscaler-downscale-stabilization',
  '--horizontal-pod-autoscaler-cpu-initialization-period',
  '--horizontal-pod-autoscaler-initial-readiness-delay',
  '--concurrent-horizontal-pod-autoscaler-syncs',
  '--horizontal-pod-autoscaler-upscale-delay',
  '--horizontal-pod-autoscaler-downscale-delay',
  '--horizontal-pod-autoscaler-use-rest-clients',
];

describe('the equivalents of the HPA', () => {
  const page = readPage('docs/guides/hpa-equivalents.md');
  const rows = tableRows(page, 'HPA');

  it('are those of every field, and "same" is a field of the document', () => {
    expect(rows.map(([field]) => field)).toEqual([
      ...HPA_SPEC,
      ...HPA_STATUS.map((field) => `status.${field}`),
    ]);
    const same = rows.filter(([field = '', here]) => here === 'same' && field.startsWith('spec.'));
    expect(same.map(([field]) => field).filter((field = '') => !FIELDS.has(field))).toEqual([]);
  });

  it('are those of every flag', () => {
    expect(tableRows(page, 'flag').map(([flag]) => flag)).toEqual(FLAGS);
  });
});

describe('the alerts', () => {
  const page = readPage('docs/guides/alerts.md');
  const rows = tableRows(page, 'alert');

  it('are listed with the states for which the rules of the chart fire', () => {
    const statesOf = new Map(
      rows.map(([alert = '', states = '']): [string, readonly string[]] => [
        alert,
        states.match(/\b[A-Z]\w+/g) ?? [],
      ]),
    );
    const named = [...statesOf.values()].flat();

    expect(named.filter((name) => !(name in STATES))).toEqual([]);
    for (const state of STATE_NAMES) {
      const alert = ALERT_OF[state];
      expect([state, alert === null || statesOf.get(alert)?.includes(state)]).toEqual([state, true]);
      expect([state, named.includes(state)]).toEqual([state, alert !== null]);
    }
    expect(rows.filter(([alert = '']) => !page.includes(`## ${alert}\n`))).toEqual([]);
  });
});

describe('a guide', () => {
  it.each(PAGES.filter((page) => page.startsWith('docs/guides/')))(
    '%s names only fields that exist',
    (page) => {
      const prose = readPage(page).replace(/^```[\s\S]*?^```/gm, '');
      const named = Array.from(
        prose.matchAll(/`((?:spec|prometheus\.NAME)\.(?:[\w.[\]*]+))`/g),
        ([, path = '']) => path,
      );
      /** Fields of other objects: a Deployment, autoscaling/v1. */
      const others = new Set(['spec.replicas', 'spec.selector', 'spec.targetCPUUtilizationPercentage']);

      expect(named.filter((path) => !FIELDS.has(path) && !others.has(path))).toEqual([]);
    },
  );
});

/** The words of a command, split like a shell does; only quotes are supported. */
function wordsOf(line: string): readonly string[] {
  const words = line.replace(/[>|].*$/, '').matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g);
  return Array.from(words, ([, single, double, plain]) => single ?? double ?? plain ?? '');
}

describe('a command of promscaler', () => {
  /** Commands in the text; test/chart/readme.test.ts checks those in blocks. */
  const inText = PAGES.filter((page) => page.startsWith('docs/')).flatMap((page) => {
    const prose = readPage(page).replace(/^```[\s\S]*?^```/gm, '');
    return Array.from(prose.matchAll(/`(?:kubectl )?promscaler ([a-z]+[^`]*)`/g), ([, line = '']) => line);
  });

  it('in the text of a page exists, with its options', async () => {
    const lines = [...new Set(inText)].map(wordsOf);
    const commands = [...new Set(lines.map(([command = '']) => command))];
    const help = new Map<string, string>();
    for (const command of commands) help.set(command, (await runCli([command, '--help'])).stdout);

    expect(lines.length).toBeGreaterThan(30);
    const unknown = lines.filter(([command = '', ...args]) =>
      args.some((word) => /^--?[a-z]/.test(word) && !(help.get(command) ?? '').includes(word)),
    );
    expect(unknown).toEqual([]);
    expect([...help].filter(([command, text]) => !text.startsWith(`Usage: promscaler ${command}`))).toEqual(
      [],
    );
  });

  it('`new` of a page writes a valid document', async () => {
    const lines = PAGES.flatMap(codeBlocksOf)
      .filter(({ language }) => language === 'sh')
      .flatMap(({ text }) => text.replaceAll(/\\\n\s*/g, '').split('\n'))
      .concat(inText.map((line) => `promscaler ${line}`))
      .filter((line) => /^promscaler new .*--max/.test(line));

    expect(lines.length).toBeGreaterThan(3);
    for (const line of lines) {
      const { stdout } = await runCli([...wordsOf(line).slice(1), '--offline']);
      expect({ line, ...readScalers(stdout, 'new') }).toMatchObject({ line, problems: [] });
      expect(stdout).toContain('kind: Scaler');
    }
  });
});

/** All sources as one line: a message may be broken over several. */
const SOURCES = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => readFileSync(join(ROOT, 'src', name), 'utf8'))
  .join('\n');

describe('troubleshooting', () => {
  const page = readPage('docs/guides/troubleshooting.md');
  const seen = [...tableRows(page, 'symptom'), ...tableRows(page, 'command')].map(
    (cells) => cells.at(-2) ?? '',
  );

  it('quotes only messages of the code', () => {
    /** Texts of Kubernetes, and the numbers and names of examples. */
    const foreign = new Set(['NotFound', 'renewTime', 'status', '421', 'HTTP 401', 'HTTP 403', 'by policy']);
    const quoted = seen.flatMap((cell) =>
      Array.from((cell.includes('`') ? cell : `\`${cell}\``).matchAll(/`([^`]+)`/g), ([, text = '']) => text),
    );
    const parts = quoted
      .filter((text) => !foreign.has(text))
      .flatMap((text) => text.split('...').map((part) => part.trim().replace(/^by (?=\w+_)/, '')))
      .filter((part) => /[a-z]{3}/i.test(part));

    expect(parts.length).toBeGreaterThan(40);
    expect(parts.filter((part) => !SOURCES.includes(part))).toEqual([]);
  });
});

describe('the page about Argo CD, Flux and Helm', () => {
  it.each([
    ' changed spec.replicas after promscaler ',
    ' may reset the replica count',
    ', then from the manifest. Without the first step, the next apply sets the count to 1',
  ])('quotes the message %s', (message) => {
    expect(readPage('docs/guides/gitops.md')).toContain(message);
    expect(SOURCES).toContain(message);
  });
});

describe('the comparison', () => {
  it.each([
    ['the forecasts of KEDA', 'Elastic Forecast (since 2.20, experimental)'],
    ['Kedify', '`kedify-predictive`'],
    ['AIBrix', 'Its field `predictive`'],
  ])('mentions %s, and what promscaler foresees', (_, words) => {
    const page = readPage('docs/guides/comparison.md');

    expect(page).toContain(words);
    expect(page).toContain('It foresees only loads that repeat');
  });
});

describe('the values blocks of the guides', () => {
  it('are accepted by the chart', async () => {
    const helm = await startHelm();
    const blocks = PAGES.flatMap(codeBlocksOf).filter(({ mark }) => mark === 'values');
    const failed = blocks.filter(
      ({ text }) => helm(['template', 'rel', join(ROOT, 'charts/promscaler'), '-f', '-'], text).code !== 0,
    );

    expect(blocks.length).toBeGreaterThan(0);
    expect(failed.map(({ where }) => where)).toEqual([]);
  });
});

describe('the gain of scrapes every 15 s', () => {
  /** The changes of theta_U and of the pod-hours by trace, in percent, as the benchmark prints them. */
  const measured = new Map(
    tableRows(readPage('docs/benchmarks.md'), 'trace')
      .filter((cells) => cells.length === 7)
      .map((cells) => [cells[0] ?? '', (cells[6] ?? '').split(', ').map((text) => parseFloat(text))]),
  );
  const rows = tableRows(readPage('docs/guides/tune.md'), 'load');
  const tracesOf = (cells: readonly string[]): readonly string[] =>
    (cells[1] ?? '').replaceAll('`', '').split(', ');

  it('is in the guide for each trace of the benchmark', () => {
    expect(measured.size).toBeGreaterThan(0);
    expect(rows.flatMap(tracesOf).toSorted()).toEqual([...measured.keys()].toSorted());
  });

  it.each(rows.map((cells) => [cells[0], cells] as const))('is that of the benchmark: %s', (_, cells) => {
    [2, 3].forEach((column, index) => {
      const sizes = tracesOf(cells).map((trace) => Math.abs(measured.get(trace)?.[index] ?? NaN));
      const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
      const word = ['less', 'more'][index] ?? '';
      const size = least === most ? `${least} %` : `${least} to ${most} %`;

      expect(cells[column]).toBe(most === 0 ? 'the same' : `${size} ${word}`);
    });
  });
});
