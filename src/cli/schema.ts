import { SERVICE_FIELDS } from '../config/service-fields.js';
import { serviceSchema } from '../config/service-schema.js';
import { DOCUMENT_FIELDS } from '../scaler/fields.js';
import { documentSchema } from '../scaler/schema.js';
import { describedJsonSchema } from '../scaler/schema-paths.js';
import type { CommandIo, ExitCode } from './io.js';

/** `schema`: the JSON Schema of the scaler document, or of the service config, on standard output. */
export function runSchema({ service }: { readonly service: boolean }, io: CommandIo): ExitCode {
  const schema = service
    ? describedJsonSchema(serviceSchema, SERVICE_FIELDS, 'promscaler service config')
    : describedJsonSchema(documentSchema, DOCUMENT_FIELDS, 'promscaler scaler document');
  io.stdout.write(`${JSON.stringify(schema, null, 2)}\n`);
  return 0;
}
