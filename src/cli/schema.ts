import type { CommandIo, ExitCode } from './io.js';
import { documentJsonSchema, serviceJsonSchema } from './schema/json-schema.js';

/** `schema`: prints the JSON Schema (draft 7) of the scaler document, or of the service config. */
export function runSchema({ service }: { readonly service: boolean }, io: CommandIo): ExitCode {
  const schema = service ? serviceJsonSchema() : documentJsonSchema();
  io.stdout.write(`${JSON.stringify(schema, null, 2)}\n`);
  return 0;
}
