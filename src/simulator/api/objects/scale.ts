import { type JsonObject, numberAt, objectAt, stringAt } from '../../json/json.js';
import { type KubeObject, asKubeObject } from '../../objects/kube-object.js';
import { selectorText } from '../../objects/selectors.js';

/**
 * Returns the `/scale` of an object, always in autoscaling/v1. Like the real server, omits 0 from the spec but not from
 * the status. An object without `spec.replicas` has 1 replica.
 */
export function scaleOf(object: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const replicas = numberAt(object, 'spec', 'replicas') ?? 1;
  return asKubeObject({
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: numberAt(object, 'status', 'replicas') ?? 0, selector: selectorOf(object) },
  });
}

/** The selector of a custom resource is in its status. Its controller writes it. */
function selectorOf(object: KubeObject): string | undefined {
  const text = stringAt(object, 'status', 'selector') ?? selectorText(objectAt(object, 'spec', 'selector'));
  return text === '' ? undefined : text;
}

/** Returns the object with the replicas of a Scale; an absent count is 0. */
export function withScale(object: KubeObject, scale: JsonObject): KubeObject {
  const replicas = numberAt(scale, 'spec', 'replicas') ?? 0;
  return { ...object, spec: { ...objectAt(object, 'spec'), replicas } };
}
