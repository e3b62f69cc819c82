import { type JsonObject, objectIn, textIn } from '../../kubernetes/api/json.js';
import { HPA_PLURAL, HPA_ROOT } from '../../kubernetes/hpa.js';
import { SCALER_PLURAL, SCALER_ROOT } from '../../kubernetes/scaler-objects.js';
import { BUILT_IN } from '../../scaler/schema/presets.js';
import type { TargetRef } from '../../scaler/spec.js';

export interface ResourceKind {
  /** Path in the API: `/apis/GROUP/VERSION`. */
  readonly root: string;
  readonly plural: string;
  /** The name of the kind in messages, such as `HPA`. */
  readonly word: string;
  /** What to do if the API server does not serve the resource; unset: all API servers serve it. */
  readonly ifNotServed?: string;
}

export interface SourceKind extends ResourceKind {
  readonly apiVersion: string;
  readonly kind: string;
  /** Names of the kind that a user may write, as in kubectl. Messages use the first name. */
  readonly types: readonly string[];
}

export const HPA: SourceKind = {
  root: HPA_ROOT,
  plural: HPA_PLURAL,
  word: 'HPA',
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  types: [
    'hpa',
    'horizontalpodautoscaler',
    'horizontalpodautoscalers',
    'horizontalpodautoscaler.autoscaling',
    'horizontalpodautoscalers.autoscaling',
  ],
};

export const SCALED_OBJECT: SourceKind = {
  root: '/apis/keda.sh/v1alpha1',
  plural: 'scaledobjects',
  word: 'ScaledObject',
  ifNotServed: 'Is KEDA installed?',
  apiVersion: 'keda.sh/v1alpha1',
  kind: 'ScaledObject',
  types: ['scaledobject', 'so', 'scaledobjects', 'scaledobject.keda.sh', 'scaledobjects.keda.sh'],
};

export const SOURCE_KINDS: readonly SourceKind[] = [HPA, SCALED_OBJECT];

export const SCALER: ResourceKind = {
  root: SCALER_ROOT,
  plural: SCALER_PLURAL,
  word: 'scaler',
  ifNotServed:
    'Install the CRD with the chart value crd.enabled: true. For documents in files, use promscaler import instead of adopt',
};

/** Returns the target of an autoscaler, with the defaults of ScaledObjects and Scalers. */
export function targetOf(object: JsonObject): TargetRef {
  const reference = objectIn(objectIn(object, 'spec'), 'scaleTargetRef');
  return {
    apiVersion: textIn(reference, 'apiVersion') ?? BUILT_IN.targetApiVersion,
    kind: textIn(reference, 'kind') ?? BUILT_IN.targetKind,
    name: textIn(reference, 'name') ?? '',
  };
}
