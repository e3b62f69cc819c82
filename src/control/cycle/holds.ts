import type { Decision } from '../../decision/result/decision.js';
import {
  besideDryRun,
  conflictWith,
  describeOther,
  nameOtherScaler,
  pauseMessage,
} from '../../decision/pause.js';
import { nameTarget } from '../../kubernetes/targets.js';
import type { Memory } from '../memory/memory.js';
import { stops } from './pause.js';
import { chooseOther } from './shared-targets.js';
import type { ScalerSpec } from '../../scaler/spec.js';
import type { CycleInput, Hold, Observed } from './types.js';
import { countOf } from '../../units/format.js';

/** Returns why a decision is not applied; null: it is applied. */
export function whyHeld(
  { scaler: { namespace, spec }, sharesTargetWith }: CycleInput,
  { memory, otherScaler, noAutoscaler, isDryRun, pause, degraded }: Observed,
  toApply: Decision,
): Hold | null {
  const other = chooseOther(spec, { sharesTargetWith, hpa: otherScaler });
  // A scaler in dry run is meant to run next to another autoscaler, so this is not a conflict. Two scalers of one
  // target are in conflict even if the service is in dry run, because that dry run ends for both at once.
  const isIntended = sharesTargetWith === null ? isDryRun : spec.dryRun;
  if (other !== null && !isIntended) {
    const doubt =
      other.isOutdated === true
        ? '; the HPA may be deleted already, but promscaler is no longer allowed to list HPAs'
        : '';
    const what = conflictWith(other, {
      scales: `${nameOtherScaler(other)} scales the same target`,
      target: nameTarget(namespace, spec.scaleTargetRef),
    });
    const end =
      other.kind === 'Scaler'
        ? 'one of the two scalers is deleted or in dry run'
        : 'only one autoscaler has this target';
    const message = `${what}; promscaler patches nothing until ${end}${doubt}`;
    return { reason: 'ConflictingScaler', outcome: 'held', message };
  }
  if (pause !== null && stops(pause, toApply.action)) {
    const also = isDryRun ? besideDryRun(other, noAutoscaler) : '';
    return { reason: 'Paused', outcome: 'paused', message: `${pauseMessage(pause)}${also}` };
  }
  if (isDryRun) {
    const why = whyDryRun(spec);
    if (noAutoscaler !== null)
      return { reason: 'NoAutoscaler', outcome: 'dry-run', message: `${noAutoscaler}; ${why}` };
    const message = other === null ? why : `${why}; ${describeOther(other)}`;
    return { reason: 'DryRun', outcome: 'dry-run', message };
  }
  if (degraded !== null && toApply.action === 'scale-down') {
    return { reason: 'StateDegraded', outcome: 'held', message: degradedMessage(degraded) };
  }
  return heldByOverride(memory, toApply);
}

export function whyDryRun({ dryRun }: Pick<ScalerSpec, 'dryRun'>): string {
  return dryRun ? 'spec.dryRun is true' : 'the service runs with --dry-run';
}

export function degradedMessage(why: string): string {
  return `${why}: promscaler does not scale down, and a restart of the process also restarts the scale-up windows`;
}

/**
 * Holds a change if an admission webhook has set another count instead: the same request would only fight the webhook.
 * A change from or to a different count is sent, because the webhook may accept it.
 */
function heldByOverride({ override }: Memory, toApply: Decision): Hold | null {
  if (override === null) return null;
  if (toApply.desiredReplicas !== override.wanted || toApply.currentReplicas !== override.got) return null;
  const message = `${overrideMessage(override)}; promscaler does not repeat the request`;
  return { reason: 'ScaleOverridden', outcome: 'held', message };
}

export function overrideMessage({ wanted, got }: NonNullable<Memory['override']>): string {
  return `${countOf(wanted, 'replica')} ${wanted === 1 ? 'was' : 'were'} requested, but the server set ${got}`;
}
