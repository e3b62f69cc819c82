import type { KubeObject } from '../objects/kube-object.js';
import type { FieldCause } from '../objects/status-error.js';
import { type JsonObject, isObject, objectAt, sameJson, valueAt } from '../json/json.js';
import { invalid, negative, required, unsupported } from './causes.js';
import { podSpecCauses, selects } from './pods.js';

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
  if (selects(selector, labels)) return [];
  return [invalid('spec.template.metadata.labels', labels, '`selector` does not match template `labels`')];
}

/** Validates a ReplicationController, whose selector is a map of labels. */
export function replicationControllerCauses(object: KubeObject): readonly FieldCause[] {
  const selector = objectAt(object, 'spec', 'selector');
  const labels = objectAt(object, 'spec', 'template', 'metadata', 'labels');
  const isMatching = Object.entries(selector).every(([key, value]) => labels[key] === value);
  return [
    ...negative('spec.replicas', valueAt(object, 'spec', 'replicas')),
    ...(Object.keys(selector).length === 0 ? [required('spec.selector')] : []),
    ...(isMatching
      ? []
      : [invalid('spec.template.metadata.labels', labels, '`selector` does not match template `labels`')]),
    ...podSpecCauses(objectAt(object, 'spec', 'template', 'spec'), 'spec.template.spec'),
  ];
}
