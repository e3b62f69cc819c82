import { openApiDocument } from '../../server/openapi.js';
import { type CommandIo, type ExitCode, usageError } from '../output/io.js';
import { customResourceDefinitionYaml } from './definition.js';
import { documentJsonSchema, serviceJsonSchema } from './json-schema.js';
import { VERSION } from '../output/version.js';

export interface SchemaOptions {
  readonly service?: boolean;
  readonly api?: boolean;
  /** Whether to print the CustomResourceDefinition, as YAML. */
  readonly crd?: boolean;
}

/**
 * Runs `schema`: prints the JSON Schema (draft 7) of the scaler document or the service config, the OpenAPI document,
 * or the CustomResourceDefinition.
 */
export function runSchema(
  { service = false, api = false, crd = false }: SchemaOptions,
  io: CommandIo,
): ExitCode {
  if ([service, api, crd].filter(Boolean).length > 1)
    throw usageError('schema takes one of --service, --api and --crd');
  if (crd) {
    io.stdout.write(customResourceDefinitionYaml());
    return 0;
  }
  const configSchema = service ? serviceJsonSchema() : documentJsonSchema();
  io.stdout.write(`${JSON.stringify(api ? openApiDocument(VERSION) : configSchema, null, 2)}\n`);
  return 0;
}
