import type { TestResult } from '../../document-tests/document-test.js';
import { formatProblem } from '../../scaler/problems/format-problem.js';
import { cleanText } from '../../units/clean-text.js';
import type { Problem } from '../../scaler/problems/problem.js';
import { scalerKey } from '../../scaler/spec.js';
import { failureLines } from './failure-lines.js';

/** Returns JUnit XML: a suite for each test file, and a test case for each test and each invalid file. */
export function junitText({
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
