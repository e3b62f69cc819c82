import type { JsonObject } from '../../json/json.js';
import { columnsOf } from './columns.js';
import type { KubeObject } from '../../objects/kube-object.js';
import type { Resource } from '../../objects/resources.js';
import { toWire } from '../objects/wire.js';

export type Included = 'None' | 'Metadata' | 'Object';

/** Returns the objects as a `Table`; common kinds have the columns of the real server. */
export function tableOf(
  resource: Resource,
  objects: readonly KubeObject[],
  options: { readonly nowMs: number; readonly metadata: JsonObject; readonly included: Included },
): JsonObject {
  const columns = columnsOf(resource);
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: options.metadata,
    columnDefinitions: columns.map(({ name, priority = 0, type = 'string', description = '' }) => ({
      name,
      type,
      format: name === 'Name' ? 'name' : '',
      description,
      priority,
    })),
    rows: objects.map((object) => ({
      cells: columns.map(({ cell }) => cell(object, options.nowMs)),
      object: rowObject(resource, object, options.included),
    })),
  };
}

function rowObject(resource: Resource, object: KubeObject, included: Included): JsonObject | undefined {
  if (included === 'None') return undefined;
  const shown = toWire(resource, object);
  if (included === 'Object') return shown;
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: shown.metadata };
}
