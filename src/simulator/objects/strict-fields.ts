import type { JsonObject } from '../kinds/json.js';
import type { Writer } from './managed-fields.js';
import type { Resource } from './resources.js';
import { badRequest, invalidPatch } from './status-error.js';

/** How an object was sent: as a whole, or as a patch. Status code and message of an error depend on it. */
export type Arrival = 'body' | 'patch';

/**
 * Reports unknown fields according to `fieldValidation`: with Strict, throws 400 (422 for a patch); with Warn, adds
 * warnings.
 */
export function reportUnknown(
  fields: readonly string[],
  about: {
    readonly writer: Pick<Writer, 'isStrict' | 'warnings'>;
    readonly resource: Pick<Resource, 'kind' | 'version'>;
    readonly sent: JsonObject;
    readonly arrival: Arrival;
  },
): void {
  const { writer, resource, sent, arrival } = about;
  if (fields.length === 0) return;
  const sentences = fields.map((field) => `unknown field ${JSON.stringify(field)}`);
  writer.warnings?.push(...sentences);
  if (writer.isStrict !== true) return;
  const strict = `strict decoding error: ${sentences.join(', ')}`;
  const { kind, version } = resource;
  throw arrival === 'body'
    ? badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${strict}`)
    : invalidPatch(sent, strict);
}
