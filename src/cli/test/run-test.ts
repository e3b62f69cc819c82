import { dirname, isAbsolute, join } from 'node:path';
import type { DocumentTest, TestResult } from '../../document-tests/document-test.js';
import { readTestFile } from '../../document-tests/read-tests.js';
import { runDocumentTest } from '../../document-tests/run-document-test.js';
import { countErrors } from '../../scaler/problems/problem.js';
import type { Problem } from '../../scaler/problems/problem.js';
import { readDocuments, refuseDuplicates } from '../../scaler/read/read-scalers.js';
import type { ReadOptions } from '../../scaler/read/read-scalers.js';
import type { Scaler } from '../../scaler/spec.js';
import { type InputFile, readInputFiles, unreadable } from '../input/read-files.js';
import { readOptionsOf, readServiceInput } from '../input/service-config.js';
import { readOutputFormat } from '../output/output-format.js';
import type { CommandIo, ExitCode } from '../process/io.js';
import { TEST_FORMATS, writeResults } from './write-results.js';

interface TestOptions {
  readonly paths: readonly string[];
  readonly config?: string;
  readonly output: string;
}

/** Runs `test`: unit tests for scaler documents. Returns 1 if one fails or a file is invalid. */
export async function runTest(options: TestOptions, io: CommandIo): Promise<ExitCode> {
  const format = readOutputFormat(options.output, TEST_FORMATS);
  const config = options.config === undefined ? null : (await readServiceInput(options.config, io)).config;
  const { files, problems: unread } = await readInputFiles(options.paths, io);
  const problems: Problem[] = [...unread];
  const tests: DocumentTest[] = [];
  for (const file of files) {
    const isNamed = options.paths.includes(file.name);
    const read = await readTests(file, isNamed, { options: readOptionsOf(config), io });
    problems.push(...read.problems);
    tests.push(...read.tests);
  }
  const results = tests.map(runDocumentTest);
  writeResults({ results, problems }, format, io);
  return countErrors(problems) > 0 || results.some(hasFailed) ? 1 : 0;
}

function hasFailed({ failures, error }: TestResult): boolean {
  return failures.length > 0 || error !== null;
}

/** Scaler documents and their tests may be in one directory, so only a manifest that is named is a problem. */
async function readTests(
  { name, text }: InputFile,
  isNamed: boolean,
  { options, io }: { readonly options: ReadOptions; readonly io: CommandIo },
): Promise<{ readonly tests: readonly DocumentTest[]; readonly problems: readonly Problem[] }> {
  const { testFile, problems, isManifest = false } = readTestFile(text, name);
  if (testFile === null) return { tests: [], problems: isManifest && !isNamed ? [] : problems };
  const scalers = await readScalers(name, testFile.scalers, { options, io });
  if (countErrors(scalers.problems) > 0) return { tests: [], problems: scalers.problems };
  const completed = testFile.complete(scalers.scalers);
  return { tests: completed.tests, problems: [...scalers.problems, ...completed.problems] };
}

/** Paths are relative to the test file. */
async function readScalers(
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
