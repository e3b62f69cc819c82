import type { TestResult, Failure } from '../../document-tests/document-test.js';
import { formatProblem, type Position, type Problem } from '../../scaler/problems/problem.js';
import { scalerKey } from '../../scaler/spec.js';
import { cleanText } from '../../units/clean-text.js';
import { countOf } from '../../units/format.js';
import type { CommandIo } from '../output/io.js';
import { writeProblems } from '../output/lines.js';

export const TEST_FORMATS = ['text', 'json', 'github', 'junit'] as const;

interface Results {
  readonly results: readonly TestResult[];
  /** Problems of test files and scaler documents. */
  readonly problems: readonly Problem[];
}

/**
 * Writes the results to standard output, and the problems to standard error. In the format `github`, both are
 * annotations on standard output.
 */
export function writeResults(
  { results, problems }: Results,
  format: (typeof TEST_FORMATS)[number],
  io: CommandIo,
): void {
  const { stdout } = io;
  if (format !== 'github') writeProblems(problems, io);
  switch (format) {
    case 'text': {
      stdout.write(textOf({ results, problems }));
      return;
    }
    case 'json': {
      stdout.write(`${JSON.stringify({ tests: results.map(resultToJson) }, null, 2)}\n`);
      return;
    }
    case 'junit': {
      stdout.write(junitText({ results, problems }));
      return;
    }
    case 'github': {
      stdout.write(`${annotations({ results, problems })}${textOf({ results, problems })}`);
      return;
    }
    default:
      return format satisfies never;
  }
}

function textOf({ results, problems }: Results): string {
  const failed = results.filter(({ failures, error }) => failures.length > 0 || error !== null);
  const lines = results.flatMap(resultLines);
  const counts = `${results.length - failed.length} passed, ${failed.length} failed`;
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const notRun = errors === 0 ? '' : `; some tests were not run because of ${countOf(errors, 'error')}`;
  return [...lines, `${counts}${notRun}`, ''].join('\n');
}

function resultLines({ test, failures, error }: TestResult): readonly string[] {
  const name = cleanText(`${test.file}: ${test.name}`);
  if (failures.length === 0 && error === null) return [`ok    ${name}`];
  const lines = failures.flatMap(failureLines);
  const all = error === null ? lines : [...lines, `error: ${error}`];
  return [`FAIL  ${name}`, ...all.map((line) => `      ${cleanText(line)}`)];
}

function resultToJson({ test, failures, error }: TestResult): unknown {
  return {
    file: test.file,
    name: test.name,
    scaler: scalerKey(test.scaler),
    passed: failures.length === 0 && error === null,
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
function junitText({
  results,
  problems,
}: {
  readonly results: readonly TestResult[];
  readonly problems: readonly Problem[];
}): string {
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
