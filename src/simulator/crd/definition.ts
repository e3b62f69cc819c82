import { type Json, type JsonObject, isObject, listAt, objectAt, stringAt, valueAt } from '../json/json.js';
import { type KubeObject, timestamp } from '../objects/kube-object.js';
import { type Resource, makeResource, storageName } from '../objects/resources.js';
import { invalidField } from '../objects/status-error.js';
import { structuralProblems } from './structural-rules.js';

export const DEFINITIONS = storageName('apiextensions.k8s.io', 'customresourcedefinitions');

export function resourcesOf(definition: KubeObject): readonly Resource[] {
  const group = stringAt(definition, 'spec', 'group') ?? '';
  const names = objectAt(definition, 'spec', 'names');
  const plural = stringAt(names, 'plural') ?? '';
  const kind = stringAt(names, 'kind') ?? '';
  return listAt(definition, 'spec', 'versions')
    .filter((version) => valueAt(version, 'served') === true)
    .map((version) => {
      const resource = makeResource(
        { group, version: stringAt(version, 'name') ?? '', plural, kind },
        {
          namespaced: stringAt(definition, 'spec', 'scope') !== 'Cluster',
          shortNames: textsAt(names, 'shortNames'),
          categories: textsAt(names, 'categories'),
          subresources: (['status', 'scale'] as const).filter(
            (name) => valueAt(version, 'subresources', name) !== undefined,
          ),
          hasGeneration: true,
          isCustom: true,
          schema: objectAt(version, 'schema', 'openAPIV3Schema'),
          columns: listAt(version, 'additionalPrinterColumns').filter(isObject),
        },
      );
      return { ...resource, singular: stringAt(names, 'singular') ?? resource.singular };
    });
}

function textsAt(value: Json, member: string): readonly string[] {
  return listAt(value, member).filter((item) => typeof item === 'string');
}

/**
 * Throws 422 for a definition that the real server rejects: its name is not `PLURAL.GROUP`, it does not have exactly
 * one storage version, or its schema is missing or not structural.
 */
export function checkDefinition(definition: KubeObject): void {
  const { name } = definition.metadata;
  const identity = { kind: 'CustomResourceDefinition', group: 'apiextensions.k8s.io', name };
  const refuse = (field: string, value: string, message: string): void => {
    throw invalidField(identity, { field, value: JSON.stringify(value), message });
  };
  const group = stringAt(definition, 'spec', 'group') ?? '';
  const plural = stringAt(definition, 'spec', 'names', 'plural') ?? '';
  if (name !== `${plural}.${group}`)
    refuse('metadata.name', name, 'must be spec.names.plural+"."+spec.group');
  const versions = listAt(definition, 'spec', 'versions');
  const stored = versions.filter((version) => valueAt(version, 'storage') === true);
  if (stored.length !== 1)
    refuse('spec.versions', `${stored.length}`, 'must have exactly one version marked as storage version');
  versions.forEach((version, index) => {
    const field = `spec.versions[${index}].schema.openAPIV3Schema`;
    const schema = valueAt(version, 'schema', 'openAPIV3Schema');
    const [problem] = isObject(schema) ? structuralProblems(schema) : [{ path: '', message: 'is required' }];
    if (problem !== undefined) refuse(`${field}${problem.path}`, '', problem.message);
  });
}

/** Returns the status of a served definition, established immediately. */
export function establishedStatus(definition: KubeObject, nowMs: number): JsonObject {
  const known = objectAt(definition, 'status');
  const lastTransitionTime = stringAt(known, 'conditions', 0, 'lastTransitionTime') ?? timestamp(nowMs);
  const stored = listAt(definition, 'spec', 'versions').find(
    (version) => valueAt(version, 'storage') === true,
  );
  const condition = (type: string, reason: string, message: string): JsonObject => ({
    type,
    status: 'True',
    reason,
    message,
    lastTransitionTime,
  });
  return {
    acceptedNames: objectAt(definition, 'spec', 'names'),
    storedVersions: [stringAt(stored, 'name') ?? ''],
    conditions: [
      condition('NamesAccepted', 'NoConflicts', 'no conflicts found'),
      condition('Established', 'InitialNamesAccepted', 'the initial names have been accepted'),
    ],
  };
}
