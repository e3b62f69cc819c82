import { DELETION_COST, type KubeObject } from '../objects/kube-object.js';
import type { FieldCause } from '../objects/status-error.js';
import {
  type Json,
  type JsonObject,
  isObject,
  listAt,
  objectAt,
  sameJson,
  stringAt,
  valueAt,
} from '../kinds/json.js';
import { causeIf, forbidden, invalid, required, unsupported, negative } from './objects.js';

const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'];
const MUTABLE = ['containers', 'initContainers', 'tolerations', 'activeDeadlineSeconds', 'schedulingGates'];
const ADMITTED = ['priority', 'enableServiceLinks', 'preemptionPolicy'];

export function podCauses(pod: KubeObject, before: KubeObject | null): readonly FieldCause[] {
  const cost = costCauses(pod);
  return [
    // On an update, the real server validates annotations twice, so each error appears twice.
    ...(before === null ? cost : [...cost, ...cost]),
    ...podSpecCauses(objectAt(pod, 'spec'), 'spec'),
    ...(before === null ? [] : changeCauses(pod, before)),
  ];
}

function costCauses(pod: KubeObject): readonly FieldCause[] {
  const cost = stringAt(pod, 'metadata', 'annotations', DELETION_COST);
  if (cost === null) return [];
  const isFine = /^(0|-?[1-9]\d*)$/.test(cost) && Math.abs(Number(cost)) <= 2 ** 31 - 1;
  return isFine ? [] : [invalid(`metadata.annotations[${DELETION_COST}]`, cost, 'must be a 32bit integer')];
}

function changeCauses(pod: KubeObject, before: KubeObject): readonly FieldCause[] {
  if (sameJson(fixedSpec(pod), fixedSpec(before))) return [];
  return [
    forbidden(
      'spec',
      'pod updates may not change fields other than `spec.containers[*].image`, `spec.initContainers[*].image`, `spec.activeDeadlineSeconds` or `spec.tolerations` (only additions to existing tolerations)',
    ),
  ];
}

/** Returns the fields of a pod that must not change, without fields that admission adds to pods of controllers. */
function fixedSpec(pod: KubeObject): JsonObject {
  const spec = objectAt(pod, 'spec');
  const kept = Object.entries(spec).filter(([name]) => !MUTABLE.includes(name) && !ADMITTED.includes(name));
  const containers = listAt(spec, 'containers').map((container) => stringAt(container, 'name'));
  return { ...Object.fromEntries(kept), containers };
}

function podSpecCauses(spec: JsonObject, path: string): readonly FieldCause[] {
  const containers = listAt(spec, 'containers');
  return [
    ...(containers.length === 0 ? [required(`${path}.containers`)] : []),
    ...containerCauses(containers, `${path}.containers`),
    ...containerCauses(listAt(spec, 'initContainers'), `${path}.initContainers`),
  ];
}

function containerCauses(containers: readonly Json[], path: string): readonly FieldCause[] {
  return containers.flatMap((container, index) => {
    const containerPath = `${path}[${index}]`;
    const name = stringAt(container, 'name') ?? '';
    const image = stringAt(container, 'image') ?? '';
    const policy = stringAt(container, 'imagePullPolicy');
    const isTwice = containers.slice(0, index).some((other) => stringAt(other, 'name') === name);
    return [
      ...causeIf(name === '', required(`${containerPath}.name`)),
      ...causeIf(name !== '' && isTwice, duplicate(`${containerPath}.name`, name)),
      ...causeIf(image === '', required(`${containerPath}.image`)),
      ...causeIf(
        policy !== null && !PULL_POLICIES.includes(policy),
        unsupported(`${containerPath}.imagePullPolicy`, policy, PULL_POLICIES),
      ),
      ...resourceCauses(container, containerPath),
    ];
  });
}

function duplicate(field: string, value: string): FieldCause {
  return { reason: 'FieldValueInvalid', field, text: `Duplicate value: "${value}"` };
}

function resourceCauses(container: Json, path: string): readonly FieldCause[] {
  const requests = objectAt(container, 'resources', 'requests');
  return Object.entries(requests)
    .filter(([, amount]) => typeof amount === 'string' && amount.startsWith('-'))
    .map(([resource, amount]) =>
      invalid(`${path}.resources.requests[${resource}]`, amount, 'must be greater than or equal to 0'),
    );
}

/** Returns the violation of a template whose labels do not match the labels of the selector. */
function unmatched(selector: JsonObject, labels: JsonObject): readonly FieldCause[] {
  if (Object.entries(selector).every(([key, value]) => labels[key] === value)) return [];
  return [invalid('spec.template.metadata.labels', labels, '`selector` does not match template `labels`')];
}

export function workloadCauses(object: KubeObject, before: KubeObject | null): readonly FieldCause[] {
  const spec = objectAt(object, 'spec');
  const labels = objectAt(spec, 'template', 'metadata', 'labels');
  const restart = valueAt(spec, 'template', 'spec', 'restartPolicy');
  return [
    ...negative('spec.replicas', spec['replicas']),
    ...negative('spec.minReadySeconds', spec['minReadySeconds']),
    ...negative('spec.revisionHistoryLimit', spec['revisionHistoryLimit']),
    ...selectorCauses(spec, labels),
    ...podSpecCauses(objectAt(spec, 'template', 'spec'), 'spec.template.spec'),
    ...(restart === 'Always' ? [] : [unsupported('spec.template.spec.restartPolicy', restart, ['Always'])]),
    ...(before === null || sameJson(valueAt(before, 'spec', 'selector'), spec['selector'])
      ? []
      : [invalid('spec.selector', spec['selector'], 'field is immutable')]),
  ];
}

function selectorCauses(spec: JsonObject, labels: JsonObject): readonly FieldCause[] {
  const { selector } = spec;
  if (!isObject(selector)) return [required('spec.selector')];
  if (Object.keys(selector).length === 0)
    return [invalid('spec.selector', selector, 'empty selector is invalid for deployment')];
  return unmatched(objectAt(selector, 'matchLabels'), labels);
}

/** Validates a ReplicationController. Its selector is a map of labels. */
export function replicationControllerCauses(object: KubeObject): readonly FieldCause[] {
  const selector = objectAt(object, 'spec', 'selector');
  const labels = objectAt(object, 'spec', 'template', 'metadata', 'labels');
  return [
    ...negative('spec.replicas', valueAt(object, 'spec', 'replicas')),
    ...(Object.keys(selector).length === 0 ? [required('spec.selector')] : []),
    ...unmatched(selector, labels),
    ...podSpecCauses(objectAt(object, 'spec', 'template', 'spec'), 'spec.template.spec'),
  ];
}
