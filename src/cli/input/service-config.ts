import { readServiceConfig, serviceFacts } from '../../config/read-service-config.js';
import type { ServiceConfig } from '../../config/resolve-service-config.js';
import type { Problem } from '../../scaler/problems/problem.js';
import type { ReadOptions } from '../../scaler/read/read-scalers.js';
import { CommandError, type CommandIo, usageError } from '../output/io.js';
import { writeProblems } from '../output/lines.js';
import { readInput } from './read-files.js';

export interface ServiceInput {
  /** The path as the user typed it. */
  readonly name: string;
  readonly config: ServiceConfig | null;
  readonly absolutePath: string | null;
  readonly problems: readonly Problem[];
}

export async function readServiceInput(file: string, io: CommandIo): Promise<ServiceInput> {
  const input = await readInput(file, io);
  if ('code' in input) return { name: file, config: null, absolutePath: null, problems: [input] };
  const { config, problems } = readServiceConfig(input.text, file, input.absolutePath);
  return { name: file, config, absolutePath: input.absolutePath, problems };
}

/**
 * Reads the service config of `--config` and prints its problems on standard error; null: the option is not set. Throws
 * `CommandError` if the config is invalid, because the result depends on its data sources and defaults.
 */
export async function requireServiceConfig(
  file: string | undefined,
  io: CommandIo,
): Promise<ServiceConfig | null> {
  if (file === undefined) return null;
  const { config, problems } = await readServiceInput(file, io);
  writeProblems(problems, io);
  if (config === null) throw new CommandError(`--config: ${file} is not a valid service config`);
  return config;
}

/** Returns options to read documents. Without a config, there are no defaults and no data sources to check. */
export function readOptionsOf(config: ServiceConfig | null): ReadOptions {
  return config === null ? {} : { defaults: config.defaults, service: serviceFacts(config) };
}

/**
 * Replaces the URL of the data source `default`, or of the only data source, by the URL of `--prometheus`. Throws
 * `CommandError` if the URL is invalid or contains credentials.
 */
export function withPrometheusUrl(config: ServiceConfig, url: string | undefined): ServiceConfig {
  if (url === undefined) return config;
  if (!URL.canParse(url) || !/^https?:\/\//i.test(url))
    throw usageError(`--prometheus is ${url}, must be an http or https URL, such as http://localhost:9090`);
  const { username, password } = new URL(url);
  if (username !== '' || password !== '')
    throw usageError(
      '--prometheus contains a user or a password: set basicAuth of the data source in the service config instead',
    );
  const sources = Object.keys(config.prometheus);
  const [only] = sources;
  const name = sources.length === 1 ? only : sources.find((one) => one === 'default');
  const source = name === undefined ? undefined : config.prometheus[name];
  if (name === undefined || source === undefined)
    throw usageError(
      `--prometheus is ambiguous: the service config has the data sources ${sources.join(', ')}, but none of them is named default`,
    );
  return { ...config, prometheus: { ...config.prometheus, [name]: { ...source, urls: [url] } } };
}

/** Throws `CommandError` if one of the options is set: they have no effect without `--live`. */
export function rejectWithoutLive(options: Readonly<Record<string, string | undefined>>): void {
  const [unused] = Object.entries(options).find(([, value]) => value !== undefined) ?? [];
  if (unused !== undefined) throw usageError(`--${unused} needs --live`);
}
