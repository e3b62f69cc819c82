import { Document, isMap, isScalar, isSeq } from 'yaml';
import { serviceFacts } from '../config/read-service-config.js';
import type { ServiceConfig } from '../config/service-config.js';
import { formatPath } from '../scaler/finding.js';
import { type FieldOrigin, listOrigins } from '../scaler/origins.js';
import { valueAt } from '../scaler/plain.js';
import type { Problem } from '../scaler/problem.js';
import { readScalerDocument, refuseDuplicates } from '../scaler/read-scalers.js';
import { readYaml } from '../scaler/read-yaml.js';
import type { Scaler } from '../scaler/spec.js';
import { writeSpec } from '../scaler/write-spec.js';
import type { CommandIo, ExitCode } from './io.js';
import { hasError, printProblems } from './print-problems.js';
import { checkOutput, readConfigOption, readOneFile } from './read-paths.js';

export interface ShowOptions {
  /** `-`: standard input. */
  readonly file: string;
  /** The service config whose defaults hold. */
  readonly config?: string | undefined;
  /** text, yaml or json. */
  readonly output: string;
}

interface Shown {
  readonly scaler: Scaler;
  readonly origins: readonly FieldOrigin[];
}

/**
 * `show FILE`: every document of the file in full, with the origin of each field. Problems go to standard error; a
 * document with an error is not shown, and makes exit code 1.
 */
export async function runShow(options: ShowOptions, io: CommandIo): Promise<ExitCode> {
  const output = checkOutput(options.output, ['text', 'yaml', 'json']);
  const given = options.config === undefined ? null : await readConfigOption(options.config, io);
  if (given?.config === null) {
    printProblems(given.problems, io.stderr);
    return 1;
  }
  const text = await readOneFile(options.file, io);
  const { shown, problems } = readShown(text, options.file, given?.config ?? null);
  printProblems(problems, io.stderr);
  if (output === 'json') io.stdout.write(`${JSON.stringify(shown.map(toJson), null, 2)}\n`);
  else
    io.stdout.write(shown.map(output === 'yaml' ? toYaml : toText).join(output === 'yaml' ? '---\n' : '\n'));
  return hasError(problems) ? 1 : 0;
}

function readShown(
  text: string,
  file: string,
  config: ServiceConfig | null,
): { readonly shown: readonly Shown[]; readonly problems: readonly Problem[] } {
  const documents = readYaml(text, file);
  const options = config === null ? {} : { defaults: config.defaults, service: serviceFacts(config) };
  const read = refuseDuplicates(documents.map((document) => readScalerDocument(document, file, options)));
  const shown = read.flatMap(({ scaler }, index): readonly Shown[] => {
    if (scaler === null) return [];
    const layers = { document: valueAt(documents[index]?.value, ['spec']), defaults: config?.defaults ?? {} };
    return [{ scaler, origins: listOrigins(scaler, layers) }];
  });
  return { shown, problems: read.flatMap(({ problems }) => problems) };
}

function fullDocument({ document, spec }: Scaler): object {
  const { apiVersion, kind, metadata } = document;
  return { apiVersion, kind, metadata, spec: writeSpec(spec) };
}

function toJson({ scaler, origins }: Shown): object {
  const entries = origins.map(({ path, origin }) => [formatPath(path), origin] as const);
  return { document: fullDocument(scaler), origins: Object.fromEntries(entries) };
}

/** A column wider than this is not waited for. */
const WIDEST_COLUMN = 56;

function toText({ scaler, origins }: Shown): string {
  const rows = origins.map(({ path, value, origin }) => [formatPath(path), textOf(value), origin] as const);
  const width = (column: 0 | 1): number =>
    Math.min(WIDEST_COLUMN, Math.max(...rows.map((row) => row[column].length)));
  const [first, second] = [width(0), width(1)];
  const lines = rows.map(
    ([path, value, origin]) => `${path.padEnd(first)}  ${value.padEnd(second)}  ${origin}`,
  );
  return `${scaler.namespace}/${scaler.name}\n${lines.join('\n')}\n`;
}

function textOf(value: unknown): string {
  if (value === null) return '-';
  return typeof value === 'string' && !/\s/.test(value) ? value : JSON.stringify(value);
}

/** The document in full, the origin of each field that the document does not hold itself as a comment. */
function toYaml({ scaler, origins }: Shown): string {
  const yaml = new Document(fullDocument(scaler), { aliasDuplicateObjects: false });
  for (const { path, origin, value } of origins) {
    if (origin === 'document' || value === null) continue;
    const node = yaml.getIn(path, true);
    if (isScalar(node) && !isMap(node) && !isSeq(node)) node.comment = ` ${origin}`;
  }
  return yaml.toString({ lineWidth: 0 });
}
