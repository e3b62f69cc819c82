import { Document } from 'yaml';
import { isServiceDocument } from '../../config/read-service-config.js';
import { resolveServiceConfig, type ServiceConfig } from '../../config/resolve-service-config.js';
import { resourceWindowSeconds, takesWindow } from '../../prometheus/data-source/resource-queries.js';
import type { SourceConfig } from '../../prometheus/data-source/source-config.js';
import { isPlainObject } from '../../scaler/plain-json.js';
import { formatPath, type Path } from '../../scaler/problems/finding.js';
import type { Problem } from '../../scaler/problems/problem.js';
import {
  type ReadOptions,
  readLocated,
  refuseDuplicates,
  withoutOtherKinds,
} from '../../scaler/read/read-scalers.js';
import { isOfResource, type Scaler, scalerKey } from '../../scaler/spec.js';
import { readYaml } from '../../scaler/yaml/read-yaml.js';
import { SCRAPES_IN_WINDOW, windowOfInterval } from '../../units/bounds.js';
import { type InputFile, readInput, unreadable } from '../input/read-files.js';
import { readOptionsOf, readServiceInput } from '../input/service-config.js';
import { readOutputFormat } from '../output/output-format.js';
import type { CommandIo, ExitCode } from '../output/io.js';
import { writeProblems } from '../output/lines.js';
import type { Row } from './row.js';
import { scalerRows } from './scaler-rows.js';

export interface ShowOptions {
  readonly file: string;
  readonly config?: string;
  readonly output: string;
}

interface Shown {
  readonly scaler: Scaler;
  readonly rows: readonly Row[];
}

/**
 * Runs `show`: prints each field of each document with its value and the origin of the value. Prints problems on
 * standard error. If a document has an error, skips it and returns 1.
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
  writeProblems(problems, io);
  return problems.some(({ severity }) => severity === 'error') ? 1 : 0;
}

function readShown(
  input: InputFile,
  options: ReadOptions,
): { readonly shown: readonly Shown[]; readonly problems: readonly Problem[] } {
  const documents = [...withoutOtherKinds(readYaml(input.text, input.name))];
  if (documents.length === 0) {
    return { shown: [], problems: [unreadable(input.name, 'the file contains no document')] };
  }
  if (documents.some(({ value }) => isServiceDocument(value) && isPlainObject(value) && !('spec' in value))) {
    const message =
      'this is a service config, must be a scaler document. Pass a service config with --config';
    return { shown: [], problems: [unreadable(input.name, message)] };
  }
  const read = refuseDuplicates(documents.map((document) => readLocated(document, input.name, options)));
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

/** Returns a row for the window of each resource query. The document has no field for the window. */
function windowRows({ spec }: Scaler, sources: Sources): readonly Row[] {
  const rows = new Map<string, Row>();
  for (const metric of spec.metrics) {
    const source = sources[metric.source];
    const isResource = isOfResource(metric);
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
  if (!takesWindow(source, resource)) {
    const from = resource in resourceWindows ? 'service config' : 'the range of the resource query';
    return row(['resourceWindows', resource], seconds, from);
  }
  const field = ['resourceWindowSeconds'];
  if (learnedIntervalSeconds === undefined) return row(field, seconds, 'service config');
  const least = windowOfInterval(0);
  const from = `built in: at least ${least} s, and ${seconds} s until the scrape interval is known`;
  return row(field, `${SCRAPES_IN_WINDOW} scrapes`, from);
}

/** Maximum width of a value, so that the origin after a long query is still on the screen. */
const WIDEST_VALUE = 40;

/** Returns the lines `path  value  # origin` with aligned columns, without a newline at the end. */
function rowsAsText(rows: readonly Row[]): string {
  const cells = rows.map((row) => ({
    path: formatPath(row.path),
    value: formatCell(row.value),
    origin: formatOrigin(row),
  }));
  const pathWidth = Math.max(...cells.map(({ path }) => path.length));
  const widths = cells.map(({ value }) => value.length).filter((length) => length <= WIDEST_VALUE);
  const valueWidth = Math.max(0, ...widths);
  return cells
    .map(({ path, value, origin }) => `${path.padEnd(pathWidth)}  ${value.padEnd(valueWidth)}  # ${origin}`)
    .join('\n');
}

/** Returns YAML in which a comment after each value names its origin. Parsing the YAML results in the same spec. */
function rowsAsYaml(rows: readonly Row[]): string {
  const document = new Document({});
  for (const row of rows) {
    const { isUnset, value, path } = row;
    const node = document.createNode(isUnset ? null : value, { aliasDuplicateObjects: false });
    node.comment = ` ${isUnset && value !== null ? `${formatCell(value)}, ` : ''}${formatOrigin(row)}`;
    document.setIn(path, node);
  }
  return document.toString({ lineWidth: 0 });
}

function rowsAsJson(rows: readonly Row[]): readonly unknown[] {
  return rows.map(({ path, value, from, by, replacedBy, replacedWhen }) => ({
    path: formatPath(path),
    value,
    from,
    ...(by === null ? {} : { by: formatPath(by) }),
    ...(replacedBy === undefined ? {} : { replacedBy: formatPath(replacedBy) }),
    ...(replacedWhen === undefined ? {} : { replacedWhen }),
  }));
}

function formatOrigin({ from, by, replacedBy, replacedWhen }: Row): string {
  const when = replacedWhen === undefined ? '' : ` ${replacedWhen}`;
  const replaced = replacedBy === undefined ? '' : `, replaced${when} by ${formatPath(replacedBy)}`;
  return `${from}${by === null ? '' : `, by ${formatPath(by)}`}${replaced}`;
}

function formatCell(value: unknown): string {
  if (value === null) return 'none';
  if (typeof value === 'string' && /^[^\s\p{C}]([^\p{C}]*[^\s\p{C}])?$/u.test(value)) return value;
  return JSON.stringify(value).replace(/\p{C}/gu, '\ufffd');
}
