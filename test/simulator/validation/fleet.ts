import type { JsonObject } from '../../../src/simulator/kinds/json.js';
import { type Simulator } from '../../../src/simulator/simulator.js';
import { type Answer, send } from '../cluster.js';

export const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
export const FLEETS = '/apis/example.com/v1/namespaces/shop/fleets';

/** The schema of a Fleet: a required size from 1 to 9, a color of two, free labels, a port of either form. */
export const FLEET_SCHEMA: JsonObject = {
  type: 'object',
  required: ['spec'],
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { type: 'object' },
    spec: {
      type: 'object',
      required: ['size'],
      properties: {
        size: { type: 'integer', minimum: 1, maximum: 9, description: 'How many ships.' },
        color: { type: 'string', enum: ['red', 'blue'] },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
        port: { 'x-kubernetes-int-or-string': true },
        note: { type: 'string', nullable: true, maxLength: 5 },
        ships: {
          type: 'array',
          items: { type: 'object', properties: { name: { type: 'string', pattern: '^[a-z]+$' } } },
        },
        open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
    status: {
      type: 'object',
      properties: {
        ready: { type: 'integer' },
        conditions: {
          type: 'array',
          items: {
            type: 'object',
            properties: { type: { type: 'string' }, status: { type: 'string' } },
          },
        },
      },
    },
  },
};

/** The definition of a namespaced kind Fleet. */
export function fleetDefinition(
  change: { readonly schema?: JsonObject; readonly spec?: JsonObject; readonly name?: string } = {},
): JsonObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: change.name ?? 'fleets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: {
        plural: 'fleets',
        singular: 'fleet',
        kind: 'Fleet',
        listKind: 'FleetList',
        shortNames: ['fl'],
      },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: change.schema ?? FLEET_SCHEMA },
          additionalPrinterColumns: [
            { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
            { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
            { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
          ],
        },
      ],
      ...change.spec,
    },
  };
}

/** Builds a Fleet with the spec, by default with the name `home`. */
export function fleet(spec: JsonObject, rest: JsonObject = {}): JsonObject {
  return { apiVersion: 'example.com/v1', kind: 'Fleet', metadata: { name: 'home' }, spec, ...rest };
}

/** Installs the definition and creates the namespace. */
export async function installFleets(simulator: Pick<Simulator, 'url'>): Promise<Answer> {
  await send(simulator, 'POST', '/api/v1/namespaces', {
    body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
  });
  return send(simulator, 'POST', DEFINITIONS, { body: fleetDefinition() });
}
