import { isServiceDocument } from '../config/read-service-config.js';
import { formatProblem } from '../scaler/problems/format-problem.js';
import { isPlainObject } from '../scaler/plain-json.js';
import type { Problem } from '../scaler/problems/problem.js';
import { type ReadOptions, readScalerDocument, refuseDuplicates } from '../scaler/read-scalers.js';
import { readYaml } from '../scaler/yaml/read-yaml.js';
import { type Scaler, scalerKey } from '../scaler/spec.js';
import { type InputFile, readInput, unreadable } from './input-files.js';
import type { CommandIo, ExitCode } from './io.js';
import { readOutputFormat } from './output-format.js';
import { readOptionsOf, readServiceInput } from './service-input.js';
import type { Row } from './show/row.js';
import { scalerRows } from './show/scaler-rows.js';
import { rowsAsJson, rowsAsText, rowsAsYaml } from './show/write-rows.js';

export interface ShowOptions {
  /** A file of scaler documents; `-` is standard input. */
  readonly file: string;
  /** The service config whose defaults hold. */
  readonly config?: string;
  /** `text`, `yaml` or `json`. */
  readonly output: string;
}

interface Shown {
  readonly scaler: Scaler;
  readonly rows: readonly Row[];
}

/**
 * `show FILE`: each document with every field, its value and where that came from. Problems go to standard error; a
 * document with an error is not shown, and makes the exit code 1.
 */
export async function runShow(options: ShowOptions, io: CommandIo): Promise<ExitCode> {
  const format = readOutputFormat(options.output, ['text', 'yaml', 'json']);
  const service = options.config === undefined ? null : await readServiceInput(options.config, io);
  if (service !== null && service.config === null) return tell(service.problems, io);
  const input = await readInput(options.file, io);
  if ('code' in input) return tell([input], io);
  const { shown, problems } = readShown(input, readOptionsOf(service?.config ?? null));
  if (shown.length > 0) io.stdout.write(FORMATS[format](shown));
  return tell([...(service?.problems ?? []), ...problems], io);
}

function tell(problems: readonly Problem[], io: CommandIo): ExitCode {
  for (const problem of problems) io.stderr.write(`${formatProblem(problem)}\n`);
  return problems.some(({ severity }) => severity === 'error') ? 1 : 0;
}

function readShown(
  input: InputFile,
  options: ReadOptions,
): { readonly shown: readonly Shown[]; readonly problems: readonly Problem[] } {
  const documents = readYaml(input.text, input.name);
  if (documents.length === 0) {
    return { shown: [], problems: [unreadable(input.name, 'there is no document in this file')] };
  }
  if (documents.some(({ value }) => isServiceDocument(value) && isPlainObject(value) && !('spec' in value))) {
    const message = 'this is a service config; show takes scaler documents, and a service config by --config';
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
