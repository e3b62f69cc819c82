import { metricKey } from '../decision/snapshot/snapshot.js';
import { DEFAULT_POD_START_SECONDS, DEFAULT_START } from '../backtest/simulation/load.js';
import { parsePodStart } from '../backtest/simulation/settings.js';
import {
  type Finding,
  finding,
  formatPath,
  locateAll,
  type LocatedDocument,
  type Path,
  unplacedProblem,
} from '../scaler/problems/finding.js';
import { checkSchema } from '../scaler/schema/check-schema.js';
import { didYouMean } from '../scaler/problems/nearest.js';
import type { Problem } from '../scaler/problems/problem.js';
import { isPlainObject } from '../scaler/plain-json.js';
import { readPlain } from '../scaler/read/read-plain.js';
import { type Scaler, scalerKey, type MetricSpec, type ScalerSpec } from '../scaler/spec.js';
import { readYaml } from '../scaler/yaml/read-yaml.js';
import { parseInstant } from '../units/time.js';
import { checkExpectations } from './check-expectations.js';
import { checkLoad } from './check-load.js';
import {
  type DocumentTest,
  type MetricInput,
  type TestFileInput,
  type TestInput,
  durationSeconds,
  testFileSchema,
} from './document-test.js';
import { parseSeries, type Series } from './parse-series.js';

/** A test file whose scaler documents are not read yet. */
interface TestFile {
  readonly file: string;
  /** Paths of the scaler documents, as the file states them. */
  readonly scalers: readonly string[];
  /** Checks the tests against the documents, and returns the tests that can be run. */
  readonly complete: (scalers: readonly Scaler[]) => {
    readonly tests: readonly DocumentTest[];
    readonly problems: readonly Problem[];
  };
}

const DEFAULT_INTERVAL_SECONDS = 60;
const FOREIGN_FIELDS: ReadonlyMap<string, string> = new Map(
  ['apiVersion', 'kind', 'metadata', 'spec'].map((field) => [
    field,
    '; a test file is not a manifest: its field scalers names the files of scaler documents',
  ]),
);
/** Limits the rounds of a test: two weeks with the default sync period. */
const MAX_ROUNDS = 100_000;

/** Parses a test file. `testFile`: null if the file cannot be used, for the reasons in `problems`. */
export function readTestFile(
  text: string,
  file: string,
): {
  readonly testFile: TestFile | null;
  readonly problems: readonly Problem[];
  /** Whether the file is not a test file but a manifest, such as a scaler document; default: false. */
  readonly isManifest?: boolean;
} {
  const [document, second] = readYaml(text, file);
  if (document === undefined) {
    const message = 'the file is empty, must have the fields scalers and tests';
    return { testFile: null, problems: [unplacedProblem({ code: 'missing-field', message }, file)] };
  }
  if (second !== undefined) {
    const message = 'a test file must be one YAML document, but this is the second document of the file';
    const problems = [second.locate(finding('wrong-settings', [], message))];
    return { testFile: null, problems, isManifest: isManifest(document.value) };
  }
  if (document.value === undefined) return { testFile: null, problems: document.problems };
  const plain = readPlain(document.value);
  if (isManifest(document.value)) {
    const message = `this is a manifest${kindOf(document.value)}, must be a test file with the fields scalers and tests; the field scalers names the files of scaler documents`;
    return {
      testFile: null,
      problems: [document.locate(finding('wrong-settings', [], message))],
      isManifest: true,
    };
  }
  const checked = checkSchema(testFileSchema, plain.value, { hints: FOREIGN_FIELDS });
  const findings = [...plain.findings, ...checked.findings];
  const problems = [...document.problems, ...locateAll(findings, document.locate)];
  if (checked.value === null || problems.length > 0) return { testFile: null, problems };
  const input = checked.value;
  const complete: TestFile['complete'] = (scalers) => completeTests(input, { document, file, scalers });
  return { testFile: { file, scalers: input.scalers, complete }, problems };
}

function isManifest(value: unknown): boolean {
  if (!isPlainObject(value) || value['tests'] !== undefined) return false;
  return value['apiVersion'] !== undefined || value['kind'] !== undefined;
}

function kindOf(value: unknown): string {
  const kind = isPlainObject(value) ? value['kind'] : undefined;
  return typeof kind === 'string' ? ` of kind ${JSON.stringify(kind.slice(0, 100))}` : '';
}

function completeTests(
  { tests }: TestFileInput,
  {
    document,
    file,
    scalers,
  }: { readonly document: LocatedDocument; readonly file: string; readonly scalers: readonly Scaler[] },
): ReturnType<TestFile['complete']> {
  const findings: Finding[] = [];
  const completed = tests.flatMap((test, index) => {
    const path = ['tests', index];
    const other = tests.findIndex(({ name }) => name === test.name);
    if (other < index)
      findings.push(
        finding('wrong-settings', [...path, 'name'], `tests[${index}] has the same name as tests[${other}]`),
      );
    const scaler = findScaler(test, path, scalers);
    if ('code' in scaler) {
      findings.push(scaler);
      return [];
    }
    const built = completeTest(test, path, { scaler, file, locate: document.locate });
    findings.push(...built.findings);
    return built.test === null ? [] : [built.test];
  });
  const problems = locateAll(findings, document.locate);
  return { tests: problems.length === 0 ? completed : [], problems };
}

function findScaler({ scaler: wanted }: TestInput, path: Path, scalers: readonly Scaler[]): Scaler | Finding {
  const names = scalers.map(scalerKey);
  if (wanted === undefined) {
    const [only, second] = scalers;
    if (only !== undefined && second === undefined) return only;
    const message = `${formatPath(path)} needs the field scaler, because the file has several scalers: ${names.slice(0, 5).join(', ')}`;
    return finding('missing-field', path, message);
  }
  const found = scalers.filter((scaler) => scalerKey(scaler) === wanted || scaler.name === wanted);
  const [only, second] = found;
  if (only !== undefined && second === undefined) return only;
  const scalerPath = [...path, 'scaler'];
  const message =
    only === undefined
      ? `${formatPath(scalerPath)} is ${JSON.stringify(wanted)}, which no document of this file has${didYouMean(wanted, names)}`
      : `${formatPath(scalerPath)} is ${JSON.stringify(wanted)}, must have a namespace: ${found.map(scalerKey).join(', ')}`;
  return finding('wrong-value', scalerPath, message);
}

function completeTest(
  test: TestInput,
  path: Path,
  given: {
    readonly scaler: Scaler;
    readonly file: string;
    readonly locate: LocatedDocument['locate'];
  },
): { readonly test: DocumentTest | null; readonly findings: readonly Finding[] } {
  const { scaler, file, locate } = given;
  const { spec } = scaler;
  const start = test.start === undefined ? DEFAULT_START : parseInstant(test.start);
  const intervalSeconds = durationSeconds(test.interval ?? '1m') ?? DEFAULT_INTERVAL_SECONDS;
  const series = checkSeries(test.series ?? [], [...path, 'series'], spec.metrics);
  const ceiling = checkCeiling(test.maxReplicasFrom, [...path, 'maxReplicasFrom'], spec);
  const isLoadChecked = test.load !== undefined && start !== null && intervalSeconds > 0;
  const loaded =
    test.load === undefined || !isLoadChecked
      ? { load: null, findings: [] }
      : checkLoad(test.load, [...path, 'load'], { scaler, start, intervalSeconds, series: series.inputs });
  const expected = checkExpectations(test.expect, [...path, 'expect'], {
    spec,
    locate,
    maxSeconds: MAX_ROUNDS * spec.syncPeriodSeconds,
    hasQueue: test.load?.queue !== undefined || test.load?.metrics !== undefined,
  });
  const at = (field: string): Path => [...path, field];
  const stated = `${spec.podStart?.seconds ?? DEFAULT_POD_START_SECONDS}s`;
  const podStart = parsePodStart(String(test.podStart ?? stated));
  const findings = [
    ...(start === null
      ? [
          finding(
            'wrong-format',
            at('start'),
            `${formatPath(at('start'))} must be a time such as 2026-01-05T08:00:00Z`,
          ),
        ]
      : []),
    ...(intervalSeconds === 0
      ? [finding('out-of-range', at('interval'), `${formatPath(at('interval'))} is 0, must be at least 1s`)]
      : []),
    ...(typeof podStart === 'string'
      ? [finding('wrong-value', at('podStart'), `${formatPath(at('podStart'))} ${podStart}`)]
      : []),
    ...series.findings,
    ...ceiling.findings,
    ...loaded.findings,
    ...expected.findings,
  ];
  if (start === null || typeof podStart === 'string' || findings.length > 0) return { test: null, findings };
  const built: DocumentTest = {
    name: test.name,
    file,
    scaler,
    start,
    intervalSeconds,
    replicas: test.replicas ?? Math.max(1, spec.minReplicas),
    podStart,
    carryOut: test.carryOut ?? true,
    inputs: series.inputs,
    ceiling: ceiling.values,
    load: loaded.load,
    expectations: expected.expectations,
  };
  return { test: built, findings };
}

type SeriesInput = NonNullable<TestInput['series']>[number];

/** Assigns each series to its metric. `inputs` contains a list of series for each metric. */
function checkSeries(
  series: readonly SeriesInput[],
  path: Path,
  metrics: readonly MetricSpec[],
): { readonly inputs: readonly (readonly MetricInput[])[]; readonly findings: readonly Finding[] } {
  const inputs: MetricInput[][] = metrics.map(() => []);
  const findings: Finding[] = [];
  series.forEach((one, index) => {
    const seriesPath = [...path, index];
    const found = findMetric(one.metric, [...seriesPath, 'metric'], metrics);
    if (typeof found !== 'number') {
      findings.push(found);
      return;
    }
    const parsed = readValues(one.values, [...seriesPath, 'values']);
    const metric = metrics[found];
    const own = inputs[found];
    if (metric === undefined || own === undefined) return;
    if ('code' in parsed) {
      findings.push(parsed);
      return;
    }
    const { pod = null, shared: isShared = false, part = null } = one;
    const input = { pod, isShared, part, values: parsed };
    const problem = whyNot(metric, input, own);
    if (problem === null) own.push(input);
    else findings.push(finding('wrong-settings', seriesPath, `${formatPath(seriesPath)} ${problem}`));
  });
  return { inputs, findings };
}

/** Checks the values that the test gives for the query of `maxReplicasFrom`. */
function checkCeiling(
  text: TestInput['maxReplicasFrom'],
  path: Path,
  { maxReplicasFrom }: ScalerSpec,
): { readonly values: Series | null; readonly findings: readonly Finding[] } {
  if (text === undefined) return { values: null, findings: [] };
  const parsed =
    maxReplicasFrom === null
      ? finding(
          'wrong-settings',
          path,
          `${formatPath(path)} is set, but the scaler document has no maxReplicasFrom`,
        )
      : readValues(text, path);
  return 'code' in parsed ? { values: null, findings: [parsed] } : { values: parsed, findings: [] };
}

function readValues(text: string | number, path: Path): Series | Finding {
  const parsed = parseSeries(String(text));
  if ('values' in parsed) return parsed.values;
  const message = `${formatPath(path)} ${parsed.error}`;
  return { ...finding('wrong-format', path, message), offset: parsed.offset };
}

/** Finds a metric by its identity, or by `TYPE/IDENTITY`, which is needed if two types have the same identity. */
function findMetric(name: string, path: Path, metrics: readonly MetricSpec[]): number | Finding {
  const found = metrics.flatMap((metric, index) =>
    metric.identity === name || metricKey(metric) === name ? [index] : [],
  );
  const [only, second] = found;
  if (only !== undefined && second === undefined) return only;
  const shown = `${formatPath(path)} is ${JSON.stringify(name)}`;
  if (only !== undefined) {
    const names = metrics.filter((_, index) => found.includes(index)).map(metricKey);
    return finding('wrong-value', path, `${shown}, must be one of ${names.join(', ')}`);
  }
  const known = metrics.map(({ identity }) => identity);
  const list = known.length === 0 ? 'has no metric' : `has ${known.slice(0, 10).join(', ')}`;
  return finding('wrong-value', path, `${shown}, but the document ${list}${didYouMean(name, known)}`);
}

function whyNot(metric: MetricSpec, input: MetricInput, others: readonly MetricInput[]): string | null {
  const { type, identity } = metric;
  const isPerPod = type !== 'Object' && type !== 'External';
  if (input.part !== null && !hasPart(metric, input.part))
    return `is the ${input.part} of ${identity}, but the document defines no ${input.part} for it`;
  if (!isPerPod && input.pod !== null) return `has a pod, but ${identity} is not measured per pod`;
  if (!isPerPod && input.isShared) return `is shared, but ${identity} is not measured per pod`;
  if (input.pod !== null && input.isShared) return 'has both pod and shared';
  const isOnlyOne = type !== 'External' || input.part === 'capacity';
  if (isOnlyOne && others.some(({ pod, part }) => pod === input.pod && part === input.part))
    return `repeats a series of ${identity}`;
  return null;
}

function hasPart(metric: MetricSpec, part: 'backlog' | 'capacity'): boolean {
  if (metric.type !== 'Object' && metric.type !== 'External') return false;
  const { backlog, capacityQuery, autoCapacity } = metric;
  return (part === 'backlog' ? backlog : (capacityQuery ?? autoCapacity)) !== undefined;
}
