import type { OtherScaler } from '../../kubernetes/api/types.js';
import { nameOtherScaler } from '../../decision/pause.js';
import { targetKey } from '../../kubernetes/targets.js';
import type { Scaler, TargetRef } from '../../scaler/spec.js';
import { groupBy } from '../../units/maps.js';

/**
 * Returns for each scaler another scaler of the same target whose document does not set `dryRun`. The two are in
 * conflict unless the scaler itself is in dry run.
 */
export function findSharedTargets(scalers: readonly Scaler[]): ReadonlyMap<string, OtherScaler> {
  const byTarget = groupBy(scalers, ({ namespace, spec }) => targetKey(namespace, spec.scaleTargetRef));
  const others = new Map<string, OtherScaler>();
  for (const sharing of byTarget.values()) {
    for (const scaler of sharing) {
      const other = sharing.find((entry) => entry !== scaler && !entry.spec.dryRun);
      if (other === undefined) continue;
      others.set(scaler.key, asOtherScaler(other));
    }
  }
  return others;
}

export function asOtherScaler({ namespace, name, spec }: Scaler): OtherScaler {
  return { kind: 'Scaler', namespace, name, target: spec.scaleTargetRef };
}

export function findOtherScaler(
  wanted: string,
  ref: TargetRef,
  others: readonly OtherScaler[],
): OtherScaler | null {
  if (others.length === 0) return null;
  const key = targetKey(wanted, ref);
  return others.find(({ namespace, target }) => targetKey(namespace, target) === key) ?? null;
}

/**
 * Returns the autoscaler without `whyNoCount` if its target has 0 replicas: an HPA then calculates nothing, and KEDA
 * starts the workload.
 */
export function atReplicas(other: OtherScaler, specReplicas: number | null): OtherScaler {
  const { whyNoCount, ...rest } = other;
  return whyNoCount === undefined || specReplicas !== 0 ? other : rest;
}

/**
 * Returns why an autoscaler does not scale the target: its HPA has no desired replicas, or does not exist. `exists`:
 * whether the ScaledObject exists; null: unknown. The service has no permission for `scaledobjects`, and cannot
 * distinguish a deleted ScaledObject from one for which KEDA has created no HPA.
 */
export function whyNotScaling(other: Omit<OtherScaler, 'target'>, exists: boolean | null = null): string {
  const name = nameOtherScaler(other);
  const isScaledObject = other.kind === 'ScaledObject';
  if (other.whyNoCount !== undefined)
    return `${isScaledObject ? `the HPA of ${name}` : name} has no desired replicas: ${other.whyNoCount}`;
  if (!isScaledObject) return `${name} no longer scales it`;
  if (exists === null) return `${name} does not exist or has no HPA`;
  return exists ? `${name} has no HPA: KEDA has not created one` : `${name} does not exist`;
}
