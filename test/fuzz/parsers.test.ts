import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readTarget } from '../../src/cli/reach/target-kind.js';
import { readNewOptions } from '../../src/cli/new/new-options.js';
import { parsePastTime } from '../../src/cli/explain/explain-past.js';
import { CommandError } from '../../src/cli/output/io.js';
import { readServiceConfig } from '../../src/config/read-service-config.js';
import { readHorizontalPodAutoscaler } from '../../src/kubernetes/hpa.js';
import { createPodReader } from '../../src/kubernetes/pods/watched-pod.js';
import { parseSelector, selectorFromObject } from '../../src/kubernetes/pods/selectors.js';
import { readScalerObject } from '../../src/kubernetes/scaler-objects.js';
import { readEntry } from '../../src/kubernetes/state/state-entry.js';
import { readWatchedTarget } from '../../src/kubernetes/targets.js';
import { KubernetesError } from '../../src/kubernetes/api/types.js';
import { readWatchEvent } from '../../src/kubernetes/watch/watch-events.js';
import { classifyAnswer, parseSampleValue } from '../../src/prometheus/answers/classify.js';
import { analyzeQuery } from '../../src/promql/analyze.js';
import { metricNames, vectorSelectors } from '../../src/promql/vector-selectors.js';
import { largestRangeSeconds } from '../../src/promql/ranges.js';
import { checkSyntax } from '../../src/promql/syntax.js';
import { listVariables, substitute } from '../../src/promql/variables.js';
import { formatProblem } from '../../src/scaler/problems/problem.js';
import { readScalers } from '../../src/scaler/read/read-scalers.js';
import { CronError, readCron } from '../../src/schedules/cron.js';
import { parseLocalTime, parseRange } from '../../src/schedules/local-time.js';
import { parseQuantity } from '../../src/units/quantity.js';
import { parseInstant } from '../../src/units/time.js';
import { runCli } from '../cli/fake-io.js';
import { randomRuns } from '../support/random-runs.js';
import { type Material, hostileText } from './hostile-text.js';

const SEED = 20_260_101;
const VECTORS = join(import.meta.dirname, '../vectors/chpa.json');
const [{ snapshot: SNAPSHOT }] = JSON.parse(readFileSync(VECTORS, 'utf8')) as [{ snapshot: object }];

/** A parser, up to the boundary at which an exception is an answer. */
interface Parser {
  readonly material: Material;
  readonly runs: number;
  readonly parse: (text: string) => unknown;
  /** Errors that its caller expects. */
  readonly boundary?: readonly (abstract new (...args: never[]) => Error)[];
}

const YAML: Material = {
  tokens: [
    'a: b\n',
    '- ',
    '? ',
    '&a ',
    '*a ',
    '!a ',
    '"',
    "'",
    '|\n',
    '>\n',
    '#',
    '---\n',
    '\t',
    '%a\n',
    '{',
    '[',
  ],
  pairs: [
    ['[', ']'],
    ['{a: ', '}'],
    ['- ', ''],
    ['? ', ''],
  ],
  good: [
    'apiVersion: promscaler.dev/v1\nkind: Scaler\nmetadata: { name: web, namespace: shop }\nspec:\n  scaleTargetRef: { name: web }\n  maxReplicas: 10\n  metrics:\n    - external: { query: "sum(rate(x{a=\\"b\\"}[5m]))", target: { value: 1 } }\n  schedules:\n    - { name: day, start: 0 8 * * 1-5, end: 0 19 * * *, minReplicas: 5 }\n',
    'prometheus:\n  default:\n    urls: ["http://prometheus:9090"]\n    headers: { x-a: b }\nscalers: { paths: [a] }\n',
  ],
};
const PROMQL: Material = {
  tokens: [
    'foo(x)+',
    'x',
    '$a ',
    '"',
    "'",
    '`',
    '#',
    '\n',
    '[5m]',
    ' offset 5m',
    '@ 5 ',
    ' or ',
    '-',
    '{a="b"}',
    '\\',
  ],
  pairs: [
    ['(', ')'],
    ['sum by (a) (', ')'],
    ['foo(', ')'],
    ['x[', ']'],
    ['{', '}'],
    ['-', ''],
  ],
  good: [
    'sum by (pod) (rate(http_requests_total{namespace="$namespace", pod=~"$pods"}[5m])) / on (pod) x offset 5m',
    'histogram_quantile(0.99, sum by (le) (rate(x_bucket[$window]))) or vector(0) # $a\n',
  ],
};
const TEXT: Material = {
  tokens: ['1', '0', '.', 'e', '+', '-', 'Ki', 'm', ' ', '*', '/', ',', ':', 'T', 'Z', 'L', '#', '!', '='],
  pairs: [
    ['(', ')'],
    ['1,', ''],
    ['*/', ''],
  ],
  good: [
    '1.5Gi',
    '0 8 * * 1-5',
    '2026-11-27T06:00',
    '2026-01-01T00:00:00Z',
    'app=web,tier in (a, b),!canary',
    'NaN',
  ],
};
const JSON_TEXT: Material = {
  tokens: [
    '{',
    '}',
    '[',
    ']',
    '"a":',
    '1',
    'null',
    ',',
    '"',
    '\\u0000',
    '{"a":1},',
    '"__proto__":{',
    '1e999',
  ],
  pairs: [
    ['[', ']'],
    ['{"a":', '}'],
    ['{"metadata":', '}'],
  ],
  good: [
    JSON.stringify(SNAPSHOT),
    '{"status":"success","data":{"resultType":"vector","result":[{"metric":{"pod":"a"},"value":[1700000000.1,"1.5"]}]}}',
    '{"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"a","namespace":"b","uid":"c","resourceVersion":"1","generation":1,"labels":{"a":"b"}},"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]},"status":{}}}',
    '{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old"}}',
  ],
};

const MEMBERS = ['spec', 'metadata', 'status', 'value', 'selector', 'matchExpressions'] as const;

/** Returns the text as JSON, and as each member of an otherwise valid object. */
function jsonValues(text: string): readonly object[] {
  let value: unknown = text;
  try {
    value = JSON.parse(text);
  } catch {
    // A text is a value as well.
  }
  const metadata = { name: 'a', namespace: 'b', uid: 'c', resourceVersion: '1', generation: 1 };
  const whole = typeof value === 'object' && value !== null ? [value] : [];
  return [...whole, ...MEMBERS.map((member) => ({ metadata, [member]: value }))];
}

const PARSERS: Readonly<Record<string, Parser>> = {
  'scaler documents': {
    material: YAML,
    runs: 1200,
    parse: (text) => readScalers(text, 'a.yaml').problems.map(formatProblem),
  },
  'the service config': {
    material: YAML,
    runs: 800,
    parse: (text) => readServiceConfig(text, 'a.yaml').problems.map(formatProblem),
  },
  PromQL: {
    material: PROMQL,
    runs: 1500,
    parse: (text) => [
      checkSyntax(text),
      metricNames(text),
      largestRangeSeconds(text),
      vectorSelectors(text),
      analyzeQuery(text),
    ],
  },
  'a query in a document': {
    material: PROMQL,
    runs: 500,
    parse: (text) => {
      const metrics = [{ external: { query: text, target: { value: 1 } } }];
      const spec = { scaleTargetRef: { name: 'a' }, maxReplicas: 2, metrics };
      const metadata = { name: 'a', namespace: 'b' };
      const document = { apiVersion: 'promscaler.dev/v1', kind: 'Scaler', metadata, spec };
      return readScalers(JSON.stringify(document), 'a.yaml').problems.map(formatProblem);
    },
  },
  'the variables of a query': {
    material: PROMQL,
    runs: 1000,
    parse: (text) => [
      listVariables(text),
      substitute(text, { a: text.slice(0, 300), namespace: '"`\\', pods: 'a|b' }),
    ],
  },
  quantities: { material: TEXT, runs: 800, parse: parseQuantity },
  'cron expressions and times': {
    material: TEXT,
    runs: 800,
    parse: (text) => [
      parseLocalTime(text),
      parseRange(text, text, 'Europe/Warsaw'),
      parseInstant(text),
      readCron(text, 'Europe/Warsaw'),
    ],
    boundary: [CronError],
  },
  'label selectors': {
    material: {
      ...TEXT,
      tokens: ['a', '=', '!', ' in (', ')', ',', ' ', 'notin'],
      good: TEXT.good.slice(-2),
    },
    runs: 600,
    parse: parseSelector,
  },
  'sample values': { material: TEXT, runs: 500, parse: parseSampleValue },
  'answers of Prometheus': {
    material: JSON_TEXT,
    runs: 700,
    parse: (body) =>
      [200, 422, 500].map((status) => classifyAnswer({ status, contentType: 'application/json', body })),
  },
  'answers of the API server': {
    material: JSON_TEXT,
    runs: 700,
    parse: (text) => {
      for (const object of jsonValues(text) as readonly Readonly<Record<string, unknown>>[]) {
        readScalerObject(object);
        readWatchedTarget(object);
        createPodReader()(object);
        readHorizontalPodAutoscaler(object);
        selectorFromObject(object);
      }
      return [readEntry(text), readWatchEvent(text, 'watching')];
    },
    boundary: [KubernetesError],
  },
  'words of the command line': {
    material: { ...TEXT, tokens: [...TEXT.tokens, 'apps/v1', 'Deployment', ...PROMQL.tokens] },
    runs: 400,
    parse: (text) => {
      const now = parseInstant('2026-01-01T00:00:00Z')!;
      for (const read of [
        () => readTarget(text),
        () => parsePastTime(text, now),
        () => readNewOptions({ min: text, max: text }),
        () => readNewOptions({ min: '1', max: '2', query: text, averageValue: text }),
      ]) {
        try {
          read();
        } catch (error) {
          if (!(error instanceof CommandError)) throw error;
        }
      }
    },
  },
};

const CLI_RUNS = 250;

/** Detects a hang: on a quiet machine nothing takes longer than 0.2 s. */
const HANG_MS = 20_000;

async function timed(work: () => unknown): Promise<void> {
  const start = performance.now();
  await work();
  expect(performance.now() - start).toBeLessThan(HANG_MS);
}

describe('for any input', () => {
  it.each(Object.entries(PARSERS))(
    'the parser of %s answers or throws an expected error',
    async (_, { material, runs, parse, boundary = [] }) => {
      const property = fc.asyncProperty(hostileText(material), (text) =>
        timed(() => {
          try {
            parse(text);
          } catch (error) {
            if (!boundary.some((type) => error instanceof type)) throw error;
          }
        }),
      );
      await fc.assert(property, { ...randomRuns(SEED, runs), endOnFailure: true });
    },
    300_000,
  );

  it.each([
    ['decide', JSON_TEXT],
    ['validate', YAML],
  ] as const)(
    '%s of standard input ends with an exit code and prints no stack',
    async (command, material) => {
      const property = fc.asyncProperty(hostileText(material), (stdin) =>
        timed(async () => {
          const { exitCode, stdout, stderr } = await runCli([command, '-'], { stdin });

          expect([0, 1, 2]).toContain(exitCode);
          expect(stdout + stderr).not.toMatch(/^ {4}at /m);
          expect(stdout + stderr).not.toContain('internal-error');
        }),
      );
      await fc.assert(property, { ...randomRuns(SEED, CLI_RUNS), endOnFailure: true });
    },
    300_000,
  );
});
