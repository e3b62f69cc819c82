import { dirname, isAbsolute, join } from 'node:path';
import type { DocumentTest, TestResult } from '../../document-tests/document-test.js';
import { readTestFile } from '../../document-tests/read-tests.js';
import { runDocumentTest } from '../../document-tests/run-document-test.js';
import { countErrors, type Problem } from '../../scaler/problems/problem.js';
import { readDocuments, refuseDuplicates, type ReadOptions } from '../../scaler/read/read-scalers.js';
import type { Scaler } from '../../scaler/spec.js';
import { periodicYield } from '../../units/clock.js';
import { type InputFile, readInputFiles, unreadable } from '../input/read-files.js';
import { readOptionsOf, readServiceInput } from '../input/service-config.js';
import { readOutputFormat } from '../output/output-format.js';
import { CommandError, type CommandIo, type ExitCode } from '../output/io.js';
import { TEST_FORMATS, writeResults } from './write-test-results.js';

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
    found.push(unreadable(testFile, `scalers (${paths.join(', ')}) have no scaler document`));
  return { scalers, problems: found };
}
