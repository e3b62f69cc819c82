import type { ServiceConfig } from '../../config/resolve-service-config.js';
import { readServiceConfig, serviceFacts } from '../../config/read-service-config.js';
import type { Problem } from '../../scaler/problems/problem.js';
import type { ReadOptions } from '../../scaler/read/read-scalers.js';
import { readInput } from './read-files.js';
import type { CommandIo } from '../process/io.js';

export interface ServiceInput {
  readonly config: ServiceConfig | null;
  readonly absolutePath: string | null;
  readonly problems: readonly Problem[];
}

export async function readServiceInput(file: string, io: CommandIo): Promise<ServiceInput> {
  const input = await readInput(file, io);
  if ('code' in input) return { config: null, absolutePath: null, problems: [input] };
  const { config, problems } = readServiceConfig(input.text, file, input.absolutePath);
  return { config, absolutePath: input.absolutePath, problems };
}

/** Without a service config, documents are validated without its defaults and data sources. */
export function readOptionsOf(config: ServiceConfig | null): ReadOptions {
  return config === null ? {} : { defaults: config.defaults, service: serviceFacts(config) };
}
