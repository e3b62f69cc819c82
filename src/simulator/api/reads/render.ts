import type { JsonObject } from '../../kinds/json.js';
import type { KubeObject } from '../../objects/kube-object.js';
import { type Resource, apiVersionOf } from '../../objects/resources.js';
import { itemText, toWire, wireText } from '../../objects/wire.js';
import type { Form } from '../requests/request.js';
import { columnsOf } from './columns.js';

interface RenderContext {
  readonly nowMs: number;
  readonly included: Included;
}

export interface Rendering extends RenderContext {
  readonly one: (resource: Resource, object: KubeObject, context: RenderContext) => string;
  readonly many: (
    resource: Resource,
    objects: readonly KubeObject[],
    context: RenderContext & { readonly metadata: JsonObject },
  ) => string;
}

/**
 * Returns the value of `includeObject`, which says what the rows of a table contain. An unknown value counts as unset.
 */
export function includedObject(query: URLSearchParams): Included {
  const wanted = query.get('includeObject');
  return wanted === 'None' || wanted === 'Object' ? wanted : 'Metadata';
}

export const RENDERINGS: Readonly<Record<Form, Pick<Rendering, 'one' | 'many'>>> = {
  object: {
    one: wireText,
    many: (resource, objects, { metadata }) => {
      const list = { kind: `${resource.kind}List`, apiVersion: apiVersionOf(resource), metadata };
      const head = JSON.stringify(list).slice(0, -1);
      return `${head},"items":[${objects.map((object) => itemText(resource, object)).join(',')}]}`;
    },
  },
  metadata: {
    one: (resource, object) => JSON.stringify(metadataOf(resource, object)),
    many: (resource, objects, { metadata }) =>
      JSON.stringify({
        kind: 'PartialObjectMetadataList',
        apiVersion: 'meta.k8s.io/v1',
        metadata,
        items: objects.map((object) => metadataOf(resource, object)),
      }),
  },
  table: {
    one: (resource, object, context) => {
      const metadata = { resourceVersion: object.metadata.resourceVersion };
      return JSON.stringify(tableOf(resource, [object], { ...context, metadata }));
    },
    many: (resource, objects, context) => JSON.stringify(tableOf(resource, objects, context)),
  },
};

function metadataOf(resource: Resource, object: KubeObject): JsonObject {
  return {
    kind: 'PartialObjectMetadata',
    apiVersion: 'meta.k8s.io/v1',
    metadata: toWire(resource, object).metadata,
  };
}

type Included = 'None' | 'Metadata' | 'Object';

/** Returns the objects as a `Table`. Common kinds have the same columns as in the real server. */
function tableOf(
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
  return included === 'Object' ? toWire(resource, object) : metadataOf(resource, object);
}
