import type { Decision } from '../../decision/decision.js';
import type { OtherScaler } from '../../kubernetes/types.js';
import type { Scaler } from '../../scaler/spec.js';
import type { OutcomeKind, Pause } from '../../telemetry/cycle-record.js';
import { nameOtherScaler } from '../observe/shared-targets.js';
import type { Memory } from '../memory/memory.js';
import { stops } from './pause.js';

/** What keeps a decision from being carried out; it does not change what is decided. */
export interface Hold {
  /** Of the condition `Held`. */
  readonly reason: 'DryRun' | 'Paused' | 'ConflictingScaler' | 'ScaleOverridden' | 'StateDegraded';
  readonly outcome: OutcomeKind;
  readonly message: string;
}

/** The first thing that stands in the way of acting on this scaler's decisions; null where nothing does. */
export function whyHeld(input: {
  readonly scaler: Scaler;
  readonly memory: Memory;
  /** What is to be carried out. */
  readonly order: Decision;
  readonly pause: Pause | null;
  readonly sharesTargetWith: string | null;
  readonly otherScaler: OtherScaler | null;
  /** Why the state of the scaler can't be stored; null: it can. */
  readonly degraded: string | null;
  /** The document or the service has asked for it. */
  readonly isDryRun: boolean;
}): Hold | null {
  const { spec } = input.scaler;
  const other = input.otherScaler === null ? null : nameOtherScaler(input.otherScaler);
  const conflict = input.sharesTargetWith ?? other;
  const { isDryRun } = input;
  // A dry run beside the autoscaler that is to be replaced is what it is there for.
  if (conflict !== null && (!isDryRun || input.sharesTargetWith !== null)) {
    const message = `${conflict} scales the same target; promscaler patches nothing until it is gone`;
    return { reason: 'ConflictingScaler', outcome: 'held', message };
  }
  const { order, pause } = input;
  if (pause !== null && stops(pause, order.action)) return heldByPause(pause);
  if (isDryRun) {
    const why = spec.dryRun ? 'spec.dryRun is true' : 'the service runs with --dry-run';
    const message = other === null ? why : `${why}; ${other} scales the target`;
    return { reason: 'DryRun', outcome: 'dry-run', message };
  }
  if (input.degraded !== null && order.action === 'scale-down') {
    return { reason: 'StateDegraded', outcome: 'held', message: degradedMessage(input.degraded) };
  }
  return heldByOverride(input.memory, order);
}

function heldByPause({ message }: Pause): Hold {
  return { reason: 'Paused', outcome: 'paused', message };
}

/** What it means that the state of a scaler can't be stored. Source: reliability.md, W11. */
export function degradedMessage(why: string): string {
  return `${why}: promscaler does not scale down, and windows of scale-ups restart with the process`;
}

/** Asking again for what was overridden would be a fight; a different count, or a different base, is no repetition. */
function heldByOverride({ override }: Memory, decision: Decision): Hold | null {
  if (override === null) return null;
  const { wanted, got } = override;
  if (decision.desiredReplicas !== wanted || decision.currentReplicas !== got) return null;
  const message = `${wanted} replicas were requested, but the server set ${got}; not requested again`;
  return { reason: 'ScaleOverridden', outcome: 'held', message };
}
