import { stringify } from 'yaml';
import { isPlainObject } from '../../scaler/plain-json.js';
import { API_VERSION } from '../../scaler/schema/document-schema.js';
import { type JsonSchema, documentJsonSchema } from './json-schema.js';
import { FIELD_RULES } from './field-rules.js';
import { STATUS_SCHEMA } from './status-schema.js';
import { structuralSchema } from './structural-schema.js';

const [GROUP = '', VERSION = ''] = API_VERSION.split('/');
const NAMES = {
  kind: 'Scaler',
  listKind: 'ScalerList',
  plural: 'scalers',
  singular: 'scaler',
  shortNames: ['psc'],
} as const;

/**
 * Columns of `kubectl get scalers` after the name, in the order of `kubectl get hpa`. All describe the version of the
 * document in effect, because `spec` may be a rejected version, and has no defaults.
 */
const COLUMNS: readonly JsonSchema[] = [
  { name: 'Reference', type: 'string', jsonPath: '.status.reference' },
  { name: 'Targets', type: 'string', jsonPath: '.status.targets' },
  { name: 'Min', type: 'integer', jsonPath: '.status.minReplicas' },
  { name: 'Max', type: 'integer', jsonPath: '.status.maxReplicas' },
  { name: 'Replicas', type: 'integer', jsonPath: '.status.currentReplicas' },
  { name: 'Desired', type: 'integer', jsonPath: '.status.desiredReplicas' },
  { name: 'State', type: 'string', jsonPath: '.status.state' },
  // kubectl prints the time since then.
  { name: 'Since', type: 'date', jsonPath: '.status.stateSince' },
  // Shown with -o wide.
  { name: 'Cause', type: 'string', priority: 1, jsonPath: '.status.cause' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
];

export function customResourceDefinition(): JsonSchema {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${NAMES.plural}.${GROUP}` },
    spec: {
      group: GROUP,
      names: NAMES,
      scope: 'Namespaced',
      versions: [
        {
          name: VERSION,
          served: true,
          storage: true,
          additionalPrinterColumns: COLUMNS,
          subresources: { status: {} },
          schema: { openAPIV3Schema: objectSchema() },
        },
      ],
    },
  };
}

export function customResourceDefinitionYaml(): string {
  // kubectl reads YAML 1.1, in which strings such as `on` are booleans unless quoted.
  return stringify(customResourceDefinition(), {
    version: '1.1',
    lineWidth: 0,
    aliasDuplicateObjects: false,
  });
}

/** Only `spec` comes from the document schema, because the API server validates metadata. */
function objectSchema(): JsonSchema {
  const { properties } = documentJsonSchema();
  const spec: unknown = isPlainObject(properties) ? properties['spec'] : undefined;
  return {
    description: 'Configuration for scaling one workload. promscaler reads it and writes its status.',
    type: 'object',
    required: ['spec'],
    properties: {
      apiVersion: { description: 'GROUP/VERSION of the object.', type: 'string' },
      kind: { description: 'Kind of the object.', type: 'string' },
      metadata: { type: 'object' },
      spec: structuralSchema(spec, { path: 'spec', additions: FIELD_RULES }),
      status: STATUS_SCHEMA,
    },
  };
}
