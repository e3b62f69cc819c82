import { type JsonObject, numberAt, objectAt, stringAt } from '../json.js';
import { type KubeObject, asKubeObject } from '../objects/kube-object.js';
import { selectorText } from '../objects/selectors.js';

/**
 * The `/scale` of an object: autoscaling/v1, whatever kind it is of. As on a real server, numbers that are 0 are left
 * out of the spec, and `status.replicas` is always there. An object without `spec.replicas` counts as 1.
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

/** A custom resource shows the selector its controller wrote into the status; the others show that of the spec. */
function selectorOf(object: KubeObject): string | undefined {
  const text = stringAt(object, 'status', 'selector') ?? selectorText(objectAt(object, 'spec', 'selector'));
  return text === '' ? undefined : text;
}

/** The object with the replicas that a Scale wants; a Scale without them wants 0. */
export function withScale(object: KubeObject, scale: JsonObject): KubeObject {
  const replicas = numberAt(scale, 'spec', 'replicas') ?? 0;
  return { ...object, spec: { ...objectAt(object, 'spec'), replicas } };
}
