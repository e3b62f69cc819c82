import { isServiceDocument } from '../../config/read-service-config.js';
import { resolveServiceConfig, type ServiceConfig } from '../../config/resolve-service-config.js';
import type { Path } from '../../scaler/problems/finding.js';
import { formatProblem } from '../../scaler/problems/format-problem.js';
import { resourceWindowSeconds, takesWindow } from '../../prometheus/data-source/resource-queries.js';
import type { SourceConfig } from '../../prometheus/data-source/source-config.js';
import { isPlainObject } from '../../scaler/plain-json.js';
import type { Problem } from '../../scaler/problems/problem.js';
import { type ReadOptions, readScalerDocument, refuseDuplicates } from '../../scaler/read/read-scalers.js';
import { readYaml } from '../../scaler/yaml/read-yaml.js';
import { type Scaler, scalerKey } from '../../scaler/spec.js';
import { SCRAPES_IN_WINDOW, windowOfInterval } from '../../units/resource-window.js';
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
  const { prometheus } = service?.config ?? resolveServiceConfig({}, null);
  if (shown.length > 0) io.stdout.write(FORMATS[format](shown, prometheus));
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

type Sources = ServiceConfig['prometheus'];

const FORMATS: Readonly<
  Record<'text' | 'yaml' | 'json', (shown: readonly Shown[], sources: Sources) => string>
> = {
  text: (shown, sources) =>
    shown
      .map(({ scaler, rows }) =>
        [`# ${scalerKey(scaler)}`, rowsAsText([...rows, ...windowRows(scaler, sources)]), ''].join('\n'),
      )
      .join('\n'),
  yaml: (shown) => shown.map(({ rows }) => rowsAsYaml(rows)).join('---\n'),
  json: (shown) => {
    const documents = shown.map(({ scaler, rows }) => ({
      scaler: scalerKey(scaler),
      fields: rowsAsJson(rows),
    }));
    return `${JSON.stringify(documents, null, 2)}\n`;
  },
};

/** Returns a row for the window of each resource query, which is not part of the document. */
function windowRows({ spec }: Scaler, sources: Sources): readonly Row[] {
  const rows = new Map<string, Row>();
  for (const metric of spec.metrics) {
    const source = sources[metric.source];
    const isResource = metric.type === 'Resource' || metric.type === 'ContainerResource';
    const seconds = !isResource || source === undefined ? 0 : resourceWindowSeconds(source, metric.name);
    if (source !== undefined && seconds > 0)
      rows.set(`${source.name} ${metric.name}`, windowRow(source, metric.name, seconds));
  }
  return [...rows.values()];
}

function windowRow(source: SourceConfig, resource: string, seconds: number): Row {
  const { name, learnedIntervalSeconds, resourceWindows = {} } = source;
  const row = (field: Path, value: unknown, from: string): Row => {
    return { path: ['prometheus', name, ...field], value, from, by: null, isUnset: false };
  };
  if (!takesWindow(source, resource))
    return resource in resourceWindows
      ? row(['resourceWindows', resource], seconds, 'service config')
      : row(['resourceWindows', resource], seconds, 'the range of the resource query');
  const field = ['resourceWindowSeconds'];
  if (learnedIntervalSeconds === undefined) return row(field, seconds, 'service config');
  const least = windowOfInterval(0);
  const from = `built in: at least ${least} s, and ${seconds} s until the scrape interval is known`;
  return row(field, `${SCRAPES_IN_WINDOW} scrapes`, from);
}
