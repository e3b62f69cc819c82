import type { OtherScaler } from '../../kubernetes/api/types.js';
import {
  type IdleAutoscaler,
  isPausedInKeda,
  pausedInKeda,
  twoOfOneTarget,
} from '../../decision/idle-autoscaler.js';
import { nameOtherScaler } from '../../decision/pause.js';
import { targetKey } from '../../kubernetes/targets.js';
import type { Scaler, ScalerSpec, TargetRef } from '../../scaler/spec.js';
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

/**
 * Returns the autoscaler that a message about the scaler names. Next to a scaler in dry run, an HPA scales the target,
 * and another scaler patches nothing. Without dry run, two scalers are in conflict, whatever else has the target.
 */
export function chooseOther(
  { dryRun }: Pick<ScalerSpec, 'dryRun'>,
  { sharesTargetWith, hpa }: Readonly<Record<'sharesTargetWith' | 'hpa', OtherScaler | null>>,
): OtherScaler | null {
  if (sharesTargetWith === null || hpa === null || !dryRun) return sharesTargetWith ?? hpa;
  const { namespace, name } = sharesTargetWith;
  return { ...hpa, scaler: { namespace, name } };
}

/** Returns the first of `others` with the target, with a `second` one if there is another; null: there is none. */
export function findOtherScaler(
  wanted: string,
  ref: TargetRef,
  others: readonly OtherScaler[],
): OtherScaler | null {
  if (others.length === 0) return null;
  const key = targetKey(wanted, ref);
  const isSame = ({ namespace, target }: OtherScaler): boolean => targetKey(namespace, target) === key;
  const index = others.findIndex(isSame);
  const first = others[index];
  if (first === undefined) return null;
  const second = others.find(
    // While KEDA replaces an HPA, both have the same owner.
    (other, at) => at > index && isSame(other) && (other.kind !== first.kind || other.name !== first.name),
  );
  if (second === undefined) return first;
  const { kind, namespace, name } = second;
  return { ...first, second: { kind, namespace, name } };
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
 * Returns why an autoscaler does not scale the target: its HPA has no desired replicas, or does not exist. Without
 * `kedaPauses`, a deleted ScaledObject cannot be distinguished from one for which KEDA has created no HPA.
 */
export function whyNotScaling(other: IdleAutoscaler): string {
  const { kind, kedaPauses, second, whyNoCount } = other;
  const name = nameOtherScaler(other);
  const isScaledObject = kind === 'ScaledObject';
  if (second !== undefined) return twoOfOneTarget(name, nameOtherScaler(second));
  if (isPausedInKeda(other)) return pausedInKeda(other, other.kedaPauses);
  if (whyNoCount !== undefined)
    return `${isScaledObject ? `the HPA of ${name}` : name} has no desired replicas: ${whyNoCount}`;
  if (!isScaledObject) return `${name} no longer scales it`;
  if (kedaPauses === undefined) return `${name} does not exist or has no HPA`;
  return kedaPauses === null ? `${name} does not exist` : `${name} has no HPA: KEDA has not created one`;
}
