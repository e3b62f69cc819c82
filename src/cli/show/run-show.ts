import { isServiceDocument } from '../../config/read-service-config.js';
import { formatProblem } from '../../scaler/problems/format-problem.js';
import { isPlainObject } from '../../scaler/plain-json.js';
import type { Problem } from '../../scaler/problems/problem.js';
import { type ReadOptions, readScalerDocument, refuseDuplicates } from '../../scaler/read/read-scalers.js';
import { readYaml } from '../../scaler/yaml/read-yaml.js';
import { type Scaler, scalerKey } from '../../scaler/spec.js';
import { type InputFile, readInput, unreadable } from '../input/read-files.js';
import type { CommandIo, ExitCode } from '../process/io.js';
import { readOutputFormat } from '../output/output-format.js';
import { readOptionsOf, readServiceInput } from '../input/service-config.js';
import type { Row } from './row.js';
import { scalerRows } from './scaler-rows.js';
import { rowsAsJson, rowsAsText, rowsAsYaml } from './write-rows.js';

interface ShowOptions {
  readonly file: string;
  readonly config?: string;
  readonly output: string;
}

interface Shown {
  readonly scaler: Scaler;
  readonly rows: readonly Row[];
}

/**
 * Runs `show`: prints every field of each document with its value and the origin of the value. Prints problems on
 * standard error. Skips documents with an error, and then returns 1.
 */
export async function runShow(options: ShowOptions, io: CommandIo): Promise<ExitCode> {
  const format = readOutputFormat(options.output, ['text', 'yaml', 'json']);
  const service = options.config === undefined ? null : await readServiceInput(options.config, io);
  if (service !== null && service.config === null) return printProblems(service.problems, io);
  const input = await readInput(options.file, io);
  if ('code' in input) return printProblems([input], io);
  const { shown, problems } = readShown(input, readOptionsOf(service?.config ?? null));
  if (shown.length > 0) io.stdout.write(FORMATS[format](shown));
  return printProblems([...(service?.problems ?? []), ...problems], io);
}

function printProblems(problems: readonly Problem[], io: CommandIo): ExitCode {
  for (const problem of problems) io.stderr.write(`${formatProblem(problem)}\n`);
  return problems.some(({ severity }) => severity === 'error') ? 1 : 0;
}

function readShown(
  input: InputFile,
  options: ReadOptions,
): { readonly shown: readonly Shown[]; readonly problems: readonly Problem[] } {
  const documents = readYaml(input.text, input.name);
  if (documents.length === 0) {
    return { shown: [], problems: [unreadable(input.name, 'the file contains no document')] };
  }
  if (documents.some(({ value }) => isServiceDocument(value) && isPlainObject(value) && !('spec' in value))) {
    const message =
      'this is a service config, must be a scaler document. Pass a service config with --config';
    return { shown: [], problems: [unreadable(input.name, message)] };
  }
  const read = refuseDuplicates(
    documents.map((document) => readScalerDocument(document, input.name, options)),
  );
  const shown = read.flatMap(({ scaler }, index): readonly Shown[] =>
    scaler === null ? [] : [{ scaler, rows: scalerRows(scaler, documents[index]?.value) }],
  );
  return { shown, problems: read.flatMap(({ problems }) => problems) };
}

const FORMATS: Readonly<Record<'text' | 'yaml' | 'json', (shown: readonly Shown[]) => string>> = {
  text: (shown) =>
    shown.map(({ scaler, rows }) => `# ${scalerKey(scaler)}\n${rowsAsText(rows)}\n`).join('\n'),
  yaml: (shown) => shown.map(({ rows }) => rowsAsYaml(rows)).join('---\n'),
  json: (shown) => {
    const documents = shown.map(({ scaler, rows }) => ({
      scaler: scalerKey(scaler),
      fields: rowsAsJson(rows),
    }));
    return `${JSON.stringify(documents, null, 2)}\n`;
  },
};
