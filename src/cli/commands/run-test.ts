import { dirname, isAbsolute, join } from 'node:path';
import type { DocumentTest, TestResult, Failure } from '../../document-tests/document-test.js';
import { readTestFile } from '../../document-tests/read-tests.js';
import { runDocumentTest } from '../../document-tests/run-document-test.js';
import { countErrors, type Problem, formatProblem, type Position } from '../../scaler/problems/problem.js';
import { readDocuments, refuseDuplicates, type ReadOptions } from '../../scaler/read/read-scalers.js';
import { type Scaler, scalerKey } from '../../scaler/spec.js';
import { periodicYield } from '../../units/clock.js';
import { type InputFile, readInputFiles, unreadable } from '../input/read-files.js';
import { readOptionsOf, readServiceInput } from '../input/service-config.js';
import { readOutputFormat } from '../output/output-format.js';
import { CommandError, type CommandIo, type ExitCode } from '../output/io.js';
import { cleanText } from '../../units/clean-text.js';
import { countOf } from '../../units/format.js';
import { writeProblems } from '../output/lines.js';

export interface TestOptions {
  readonly paths: readonly string[];
  readonly config?: string;
  readonly output: string;
}

/** Runs `test`: unit tests of scaler documents. Returns 1 if a test fails, a file is invalid, or there is no test. */
export async function runTest(options: TestOptions, io: CommandIo): Promise<ExitCode> {
  const format = readOutputFormat(options.output, TEST_FORMATS);
  const service = options.config === undefined ? null : await readServiceInput(options.config, io);
  const { tests, problems } =
    service === null || service.config !== null
      ? await readAllTests(options.paths, readOptionsOf(service?.config ?? null), io)
      : NO_TESTS;
  const results = await runTests(tests, io);
  const allProblems = [...(service?.problems ?? []), ...problems];
  writeResults({ results, problems: allProblems }, format, io);
  return countErrors(allProblems) > 0 || results.some(hasFailed) ? 1 : 0;
}

/** Throws `CommandError` if the command is interrupted. */
async function runTests(
  tests: readonly DocumentTest[],
  { clock, signal }: CommandIo,
): Promise<readonly TestResult[]> {
  const yieldIfDue = periodicYield(clock);
  const results: TestResult[] = [];
  for (const test of tests) {
    const pause = async (): Promise<void> => {
      await yieldIfDue();
      if (signal.aborted) throw new CommandError(`interrupted in ${test.file}: ${test.name}`);
    };
    results.push(await runDocumentTest(test, pause));
  }
  return results;
}

interface Tests {
  readonly tests: readonly DocumentTest[];
  readonly problems: readonly Problem[];
}

const NO_TESTS: Tests = { tests: [], problems: [] };

async function readAllTests(paths: readonly string[], options: ReadOptions, io: CommandIo): Promise<Tests> {
  const { files, problems: unread } = await readInputFiles(paths, io);
  const problems: Problem[] = [...unread];
  const tests: DocumentTest[] = [];
  for (const file of files) {
    const read = await readTests(file, paths.includes(file.name), { options, io });
    problems.push(...read.problems);
    tests.push(...read.tests);
  }
  if (tests.length > 0 || countErrors(problems) > 0) return { tests, problems };
  const message = 'no file is a test file; a test file has the fields scalers and tests';
  return { tests, problems: [...problems, unreadable(paths.join(', '), message)] };
}

function hasFailed({ failures, error }: TestResult): boolean {
  return failures.length > 0 || error !== null;
}

/**
 * Reads a test file. A manifest is a problem only if the user has named the file, because a directory may contain
 * scaler documents next to their tests.
 */
async function readTests(
  { name, text }: InputFile,
  isNamed: boolean,
  { options, io }: { readonly options: ReadOptions; readonly io: CommandIo },
): Promise<Tests> {
  const { testFile, problems, isManifest = false } = readTestFile(text, name);
  if (testFile === null) return isManifest && !isNamed ? NO_TESTS : { tests: [], problems };
  const scalers = await readTested(name, testFile.scalers, { options, io });
  if (countErrors(scalers.problems) > 0) return { tests: [], problems: scalers.problems };
  const completed = testFile.complete(scalers.scalers);
  return { tests: completed.tests, problems: [...scalers.problems, ...completed.problems] };
}

/** Reads the scaler documents of a test file. `paths` are relative to the directory of the test file. */
async function readTested(
  testFile: string,
  paths: readonly string[],
  { options, io }: { readonly options: ReadOptions; readonly io: CommandIo },
): Promise<{ readonly scalers: readonly Scaler[]; readonly problems: readonly Problem[] }> {
  const base = testFile === '-' ? '.' : dirname(testFile);
  const resolved = paths.map((path) => (isAbsolute(path) ? path : join(base, path)));
  const { files, problems } = await readInputFiles(resolved, io);
  const documents = refuseDuplicates(files.flatMap(({ name, text }) => readDocuments(text, name, options)));
  const scalers = documents.flatMap(({ scaler }) => (scaler === null ? [] : [scaler]));
  const found = [...problems, ...documents.flatMap((document) => document.problems)];
  if (scalers.length === 0 && countErrors(found) === 0)
    found.push(
      unreadable(testFile, `the files of the field scalers (${paths.join(', ')}) contain no scaler document`),
    );
  return { scalers, problems: found };
}

const TEST_FORMATS = ['text', 'json', 'github', 'junit'] as const;

interface Results {
  readonly results: readonly TestResult[];
  /** Problems of test files and scaler documents. */
  readonly problems: readonly Problem[];
}

/**
 * Writes the results to standard output, and the problems to standard error. In the format `github`, both are
 * annotations on standard output.
 */
function writeResults(found: Results, format: (typeof TEST_FORMATS)[number], io: CommandIo): void {
  if (format !== 'github') writeProblems(found.problems, io);
  io.stdout.write(FORMATS[format](found));
}

const FORMATS: Readonly<Record<(typeof TEST_FORMATS)[number], (found: Results) => string>> = {
  text: textOf,
  json: ({ results }) => `${JSON.stringify({ tests: results.map(resultToJson) }, null, 2)}\n`,
  junit: junitText,
  github: (found) => `${annotations(found)}${textOf(found)}`,
};

function textOf({ results, problems }: Results): string {
  const failed = results.filter(hasFailed);
  const lines = results.flatMap(resultLines);
  const counts = `${results.length - failed.length} passed, ${failed.length} failed`;
  const errors = countErrors(problems);
  const notRun = errors === 0 ? '' : `; some tests were not run because of ${countOf(errors, 'error')}`;
  return [...lines, `${counts}${notRun}`, ''].join('\n');
}

function resultLines(result: TestResult): readonly string[] {
  const { test, failures, error } = result;
  const name = cleanText(`${test.file}: ${test.name}`);
  if (!hasFailed(result)) return [`ok    ${name}`];
  const lines = failures.flatMap(failureLines);
  const all = error === null ? lines : [...lines, `error: ${error}`];
  return [`FAIL  ${name}`, ...all.map((line) => `      ${cleanText(line)}`)];
}

function resultToJson(result: TestResult): unknown {
  const { test, failures, error } = result;
  return {
    file: test.file,
    name: test.name,
    scaler: scalerKey(test.scaler),
    passed: !hasFailed(result),
    error,
    failures: failures.map(({ expectation, mismatches, reason }) => ({
      line: expectation.place?.line ?? null,
      at: expectation.at,
      roundSeconds: expectation.roundSeconds,
      mismatches,
      reason,
    })),
  };
}

function annotations({ results, problems }: Results): string {
  const lines = [
    ...problems.map(({ severity, file, place, message, code }) =>
      annotation(severity, { file: file ?? '', place, title: code, message }),
    ),
    ...results.flatMap(({ test, failures, error }) => [
      ...failures.map((failure) =>
        annotation('error', {
          file: test.file,
          place: failure.expectation.place,
          title: test.name,
          message: failureLines(failure).join('\n'),
        }),
      ),
      ...(error === null
        ? []
        : [annotation('error', { file: test.file, place: null, title: test.name, message: error })]),
    ]),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** Returns a workflow command of GitHub Actions, with the escapes of its toolkit (packages/core/command.ts). */
function annotation(
  severity: 'error' | 'warning',
  at: {
    readonly file: string;
    readonly place: Position | null;
    readonly title: string;
    readonly message: string;
  },
): string {
  const { file, place, title, message } = at;
  const properties = [
    `file=${escapeProperty(file)}`,
    ...(place === null ? [] : [`line=${place.line}`, `col=${place.column}`]),
    `title=${escapeProperty(title)}`,
  ];
  return `::${severity} ${properties.join(',')}::${escapeData(message)}`;
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** Returns JUnit XML with a suite for each test file, and a test case for each test and for each invalid file. */
function junitText({ results, problems }: Results): string {
  const errors = problems.filter(({ severity }) => severity === 'error');
  const files = new Set([...results.map(({ test }) => test.file), ...errors.map(({ file }) => file ?? '')]);
  const suites = [...files].map((file) => {
    const own = results.filter(({ test }) => test.file === file);
    const invalid = errors.filter((problem) => (problem.file ?? '') === file);
    const failed = own.filter(({ failures, error }) => error === null && failures.length > 0).length;
    const broken = own.filter(({ error }) => error !== null).length + invalid.length;
    return [
      `  <testsuite name="${escapeXml(file)}" tests="${own.length + invalid.length}" failures="${failed}" errors="${broken}">`,
      ...own.map(caseOf),
      ...invalid.map(
        (problem) =>
          `    <testcase name="${escapeXml(problem.code)}" classname="${escapeXml(file)}"><error message="${escapeXml(problem.message)}">${escapeXml(formatProblem(problem))}</error></testcase>`,
      ),
      '  </testsuite>',
    ].join('\n');
  });
  return ['<?xml version="1.0" encoding="UTF-8"?>', '<testsuites>', ...suites, '</testsuites>', ''].join(
    '\n',
  );
}

function caseOf({ test, failures, error }: TestResult): string {
  const open = `    <testcase name="${escapeXml(test.name)}" classname="${escapeXml(scalerKey(test.scaler))}"`;
  const [first] = failures;
  if (error !== null) return `${open}><error message="${escapeXml(error)}"/></testcase>`;
  if (first === undefined) return `${open}/>`;
  const text = failures.flatMap(failureLines).join('\n');
  const message = first.mismatches.map(({ field }) => field).join(', ');
  return `${open}><failure message="${escapeXml(`at ${first.expectation.at}: ${message}`)}">${escapeXml(text)}</failure></testcase>`;
}

function escapeXml(text: string): string {
  return cleanText(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replace(/[\uFFFE\uFFFF]/g, '\uFFFD');
}

/** Returns a diff: lines with `-` are what the test expects, lines with `+` what the decision contains. */
function failureLines({ expectation, mismatches, reason }: Failure): readonly string[] {
  const line = expectation.place === null ? '' : ` (line ${expectation.place.line})`;
  return [
    `at ${timeOf(expectation)}${line}:`,
    ...mismatches.flatMap(({ field, expected, actual }) => [
      `  - ${field}: ${show(expected)}`,
      `  + ${field}: ${show(actual)}`,
    ]),
    `  reason: ${reason}`,
  ];
}

/** Returns the time of an expectation. If it is between two rounds, adds the time of the round that was compared. */
function timeOf({ at, atSeconds, roundSeconds }: Failure['expectation']): string {
  return atSeconds === roundSeconds ? at : `${at}, in the round at ${roundSeconds}s`;
}

function show(value: unknown): string {
  if (Array.isArray(value)) return `[${value.join(', ')}]`;
  return value === null ? 'none' : typeof value === 'string' ? value : JSON.stringify(value);
}
