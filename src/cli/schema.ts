import { openApiDocument } from '../server/openapi.js';
import type { CommandIo, ExitCode } from './io.js';
import { CommandError } from './io.js';
import { documentJsonSchema, serviceJsonSchema } from './schema/json-schema.js';
import { VERSION } from './version.js';

export interface SchemaOptions {
  /** Of the service config instead of the scaler document. */
  readonly service?: boolean;
  /** The OpenAPI document of the service's pages instead. */
  readonly api?: boolean;
}

/** `schema`: prints the JSON Schema (draft 7) of the scaler document or the service config, or the OpenAPI document. */
export function runSchema({ service = false, api = false }: SchemaOptions, io: CommandIo): ExitCode {
  if (service && api) throw new CommandError('schema takes --service or --api, not both', 2);
  const configSchema = service ? serviceJsonSchema() : documentJsonSchema();
  io.stdout.write(`${JSON.stringify(api ? openApiDocument(VERSION) : configSchema, null, 2)}\n`);
  return 0;
}
