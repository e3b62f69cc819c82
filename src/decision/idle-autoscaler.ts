import type { OtherAutoscaler } from './pause.js';
import { adoptCommand, kubectl, type Remedy, type Snippet } from './snippet.js';
import type { ScalerName } from '../scaler/spec.js';

/** The autoscaler that should scale the target of a dry run but does not, or that another one prevents from scaling. */
export interface IdleAutoscaler extends OtherAutoscaler {
  /**
   * The annotations by which a ScaledObject is paused in KEDA. Null: the ScaledObject does not exist. Unset: unknown,
   * because the service has no permission for `scaledobjects`.
   */
  readonly kedaPauses?: readonly string[] | null | undefined;
}

export interface Help {
  /** Steps that help whether the document is a file or an object; empty: there is none. */
  readonly steps: readonly Step[];
  /** The step of `adopt`, which finds only documents that are objects; null: `adopt` refuses each one. */
  readonly adopt: Step | null;
  /** Whether the end of the dry run helps, as `adopt` does it. */
  readonly endsDryRun: boolean;
}

export interface Step extends Remedy {
  readonly snippet: Snippet;
}

/**
 * Returns what helps if an autoscaler does not scale the target of a dry run. All outputs use it, so that none advises
 * a step that `adopt` refuses: a switch next to a second autoscaler, or of a ScaledObject that is paused in KEDA.
 */
export function whatHelps(idle: IdleAutoscaler): Help {
  const { kind, namespace, name, whyNoCount, second, kedaPauses } = idle;
  const only = (steps: readonly Step[]): Help => ({ steps, adopt: null, endsDryRun: false });
  if (second !== undefined) return only(keepOne(idle, second));
  if (isPausedInKeda(idle)) return only([endKedaPause(idle, idle.kedaPauses)]);
  const isScaledObject = kind === 'ScaledObject';
  const hasHpa = whyNoCount !== undefined;
  const isGone = isScaledObject ? kedaPauses === null : !hasHpa;
  const find = {
    text: hasHpa
      ? `Find out why the HPA${isScaledObject ? ' of the ScaledObject' : ''} has no desired replicas`
      : 'See whether the ScaledObject exists, and why KEDA has created no HPA',
    snippet: kubectl(namespace, 'describe', isScaledObject ? 'scaledobject' : 'hpa', name),
  };
  const isUnknown = isScaledObject && kedaPauses === undefined;
  const command = adoptCommand(idle, isUnknown ? '--report' : isGone ? '--switch' : '--switch --force');
  if (command === null) return only([]);
  const text = isUnknown
    ? 'See whether the ScaledObject is paused in KEDA, which prevents a switch'
    : 'End the dry run; the command checks the service first';
  return {
    steps: isGone ? [] : [find],
    adopt: { text, snippet: command },
    endsDryRun: !isUnknown,
  };
}

/** Returns how to delete one of two autoscalers of a target, which scale nothing together. */
function keepOne(first: OtherAutoscaler, second: OtherAutoscaler): readonly Step[] {
  const keep = (kept: OtherAutoscaler, other: OtherAutoscaler): Step => ({
    text: `To keep ${kept.kind} ${kept.namespace}/${kept.name}, delete ${other.kind} ${other.namespace}/${other.name}`,
    snippet: deleteAutoscaler(other),
  });
  return [keep(first, second), keep(second, first)];
}

/** Returns the command that deletes an HPA or a ScaledObject. */
export function deleteAutoscaler({ kind, namespace, name }: ScalerName & { readonly kind: string }): Snippet {
  return kubectl(namespace, 'delete', kind === 'HorizontalPodAutoscaler' ? 'hpa' : kind.toLowerCase(), name);
}

function endKedaPause({ namespace, name }: ScalerName, keys: readonly string[]): Step {
  const removed = keys.map((key) => `${key}-`);
  return {
    text: 'End the pause in KEDA',
    snippet: kubectl(namespace, 'annotate', 'scaledobject', name, ...removed),
  };
}

export function isPausedInKeda<Idle extends IdleAutoscaler>(
  idle: Idle,
): idle is Idle & { readonly kedaPauses: readonly string[] } {
  return idle.kedaPauses != null && idle.kedaPauses.length > 0;
}

/** Returns for example `ScaledObject shop/web is paused in KEDA (annotation autoscaling.keda.sh/paused)`. */
export function pausedInKeda({ namespace, name }: ScalerName, keys: readonly string[]): string {
  const annotations = `annotation${keys.length === 1 ? '' : 's'} ${keys.join(', ')}`;
  return `ScaledObject ${namespace}/${name} is paused in KEDA (${annotations})`;
}

/**
 * Returns for example `HorizontalPodAutoscaler shop/a and HorizontalPodAutoscaler shop/b have the same target, ...`.
 */
export function twoOfOneTarget(first: string, second: string): string {
  return `${first} and ${second} have the same target, and two HPAs of one target scale nothing`;
}
