import { resolve } from 'node:path';
import { checkLimits, placeless } from '../config/document-set.js';
import type { ReadFile } from '../config/read-generation.js';
import {
  type ReadServiceConfig,
  isServiceDocument,
  readServiceDocument,
  serviceFacts,
} from '../config/read-service-config.js';
import type { ServiceConfig } from '../config/service-config.js';
import type { Problem } from '../scaler/problem.js';
import { type ReadOptions, readScalerDocument, refuseDuplicates } from '../scaler/read-scalers.js';
import { type YamlDocument, readYaml } from '../scaler/read-yaml.js';
import type { CommandIo, ExitCode } from './io.js';
import { countProblems, hasError, plural, printProblems } from './print-problems.js';
import { checkOutput, readConfigOption, readPath } from './read-paths.js';

export interface ValidateOptions {
  readonly paths: readonly string[];
  /** The service config that holds for the documents; left out, one among the paths. */
  readonly config?: string | undefined;
  /** text or json. */
  readonly output: string;
}

/** What `validate` found; printed as it is with `-o json`. */
export interface Validation {
  readonly files: number;
  readonly documents: number;
  readonly serviceConfigs: number;
  readonly problems: readonly Problem[];
}

/**
 * `validate PATH...`: checks service configs and scaler documents without asking any server. Text: problems on
 * standard error, the sum on standard output; json: everything on standard output. 0: no errors; 1: some.
 */
export async function runValidate(options: ValidateOptions, io: CommandIo): Promise<ExitCode> {
  const output = checkOutput(options.output, ['text', 'json']);
  const validation = await validatePaths(options, io);
  const { files, documents, serviceConfigs, problems } = validation;
  if (output === 'json') io.stdout.write(`${JSON.stringify(validation, null, 2)}\n`);
  else {
    printProblems(problems, io.stderr);
    const what = `${plural(files, 'file')}, ${plural(documents, 'document')}, ${plural(serviceConfigs, 'service config')}`;
    io.stdout.write(`${what}: ${countProblems(problems)}\n`);
  }
  return hasError(problems) ? 1 : 0;
}

interface Entry {
  readonly file: string;
  readonly document: YamlDocument;
}

/** Reads all paths and checks what they hold, one against the other, too. */
export async function validatePaths(options: ValidateOptions, io: CommandIo): Promise<Validation> {
  const { files, problems } = await collectFiles(options.paths, io);
  const entries = files.flatMap(({ name, text }) =>
    readYaml(text ?? '', name).map((document): Entry => ({ file: name, document })),
  );
  const [configs, scalers] = partition(entries, ({ document }) => isServiceDocument(document.value));
  const tooMuch = checkLimits(
    files.map(({ text }) => text?.length ?? 0),
    scalers.length,
  );
  if (tooMuch !== null) problems.push(tooMuch);
  const read = configs.map(({ file, document }) => readServiceDocument(document, resolve(io.cwd, file)));
  problems.push(...read.flatMap((config) => config.problems));
  const given = options.config === undefined ? null : await readConfigOption(options.config, io);
  if (given !== null && !options.paths.includes(options.config ?? '')) problems.push(...given.problems);
  const against = readOptions(given === null ? only(read) : given.config);
  const checked = scalers.map(({ file, document }) => readScalerDocument(document, file, against));
  problems.push(...refuseDuplicates(checked).flatMap((document) => document.problems));
  return { files: files.length, documents: scalers.length, serviceConfigs: configs.length, problems };
}

async function collectFiles(
  paths: readonly string[],
  io: CommandIo,
): Promise<{ readonly files: readonly ReadFile[]; readonly problems: Problem[] }> {
  const files = new Map<string, ReadFile>();
  const problems: Problem[] = [];
  for (const path of paths) {
    const found = await readPath(path, io);
    if (found.error !== null) problems.push(placeless('unreadable', `reading ${path}: ${found.error}`, path));
    else if (found.files.length === 0) {
      problems.push(placeless('no-documents', `${path} holds no *.yaml and no *.yml`, path));
    }
    for (const file of found.files) {
      if (file.text === null)
        problems.push(placeless('unreadable', `reading ${file.name}: ${file.error ?? ''}`, file.name));
      // A file that two paths lead to is checked once.
      else files.set(resolve(io.cwd, file.name), files.get(resolve(io.cwd, file.name)) ?? file);
    }
  }
  return { files: Array.from(files.values()), problems };
}

/** The one good service config among the paths: what documents beside it are meant for. */
function only(read: readonly ReadServiceConfig[]): ServiceConfig | null {
  return read.length === 1 ? (read[0]?.config ?? null) : null;
}

function readOptions(config: ServiceConfig | null): ReadOptions {
  return config === null ? {} : { defaults: config.defaults, service: serviceFacts(config) };
}

function partition<T>(
  items: readonly T[],
  isFirst: (item: T) => boolean,
): readonly [readonly T[], readonly T[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}
