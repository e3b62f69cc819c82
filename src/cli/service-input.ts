import type { ServiceConfig } from '../config/resolve-service-config.js';
import { readServiceConfig, serviceFacts } from '../config/read-service-config.js';
import type { Problem } from '../scaler/problems/problem.js';
import type { ReadOptions } from '../scaler/read-scalers.js';
import { readInput } from './input-files.js';
import type { CommandIo } from './io.js';

/** The service config that `--config` names, and all that is wrong with it. */
export interface ServiceInput {
  readonly config: ServiceConfig | null;
  readonly absolutePath: string | null;
  readonly problems: readonly Problem[];
}

/** Reads the service config that `--config` names. */
export async function readServiceInput(file: string, io: CommandIo): Promise<ServiceInput> {
  const input = await readInput(file, io);
  if ('code' in input) return { config: null, absolutePath: null, problems: [input] };
  const { config, problems } = readServiceConfig(input.text, file, input.absolutePath);
  return { config, absolutePath: input.absolutePath, problems };
}

/** What documents are read against where this service config holds; nothing is known where there is none. */
export function readOptionsOf(config: ServiceConfig | null): ReadOptions {
  return config === null ? {} : { defaults: config.defaults, service: serviceFacts(config) };
}
