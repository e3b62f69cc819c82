import { widestBounds } from '../../decision/limits/scheduled-bounds.js';
import type { Decision } from '../../decision/result/decision.js';
import type { Intent } from '../../kubernetes/state/state-entry.js';
import { KubernetesError } from '../../kubernetes/api/types.js';
import type { ScaleTarget } from '../../kubernetes/api/types.js';
import type { Instant } from '../../units/time.js';
import { changeReplicas, NOT_WANTED } from './change-replicas.js';
import type { ScaleResult } from './change-replicas.js';
import { isUnderWay } from '../memory/unresolved-change.js';
import type { Memory } from '../memory/memory.js';
import type { CycleInput, CyclePorts } from './ports.js';
import { storedStateOf } from '../memory/stored-state.js';
import type { Hold } from './holds.js';

export interface CarriedOut {
  readonly result: ScaleResult | null;
  /** The memory after the intent was stored. */
  readonly memory: Memory;
}

interface Wanted {
  readonly target: ScaleTarget;
  readonly memory: Memory;
  readonly order: Decision;
  readonly hold: Hold | null;
  /** Whether a pause sets the count, regardless of the bounds. */
  readonly isFixed: boolean;
}

/** Returns null if there is nothing to carry out or check, as in nearly every cycle: then nothing waits either. */
export function carryOut(input: CycleInput, ports: CyclePorts, wanted: Wanted): Promise<CarriedOut> | null {
  const { target, order, hold } = wanted;
  const costs =
    ports.deletionCosts?.update(input, {
      target,
      from: order.currentReplicas,
      to: order.desiredReplicas,
      isHeld: hold !== null,
    }) ?? null;
  if (hold !== null) return null;
  if (order.action !== 'none') return change(input, ports, { ...wanted, costs });
  return wanted.memory.wasDryRun === true && ports.leadership.mayWrite()
    ? tryChange(input, ports, wanted)
    : null;
}

/**
 * Checks after a dry run that the present count could be written, so that a missing permission or a webhook that rejects
 * it is reported now, and not when the count has to change.
 */
async function tryChange({ signal }: CycleInput, ports: CyclePorts, wanted: Wanted): Promise<CarriedOut> {
  const { target, order, memory } = wanted;
  const { namespace, ref, uid, resourceVersion } = target;
  const releaseTurn = await ports.takeTurn();
  try {
    const change = { uid, resourceVersion, replicas: order.currentReplicas };
    await ports.cluster.tryScale?.(namespace, ref, change, signal);
    return { result: null, memory: { ...memory, wasDryRun: false } };
  } catch (error) {
    if (!(error instanceof KubernetesError)) throw error;
    return { result: { kind: 'failed', message: error.message, unresolved: null }, memory };
  } finally {
    releaseTurn();
  }
}

async function change(
  { scaler, now, isCurrent, signal }: CycleInput,
  ports: CyclePorts,
  wanted: Wanted & { readonly costs: Promise<void> | null },
): Promise<CarriedOut> {
  const { clock, cluster, leadership } = ports;
  const { target, order } = wanted;
  await wanted.costs;
  const releaseTurn = await ports.takeTurn();
  let { memory } = wanted;
  try {
    const message = whyGivenUp(memory, { now, isWanted: !signal.aborted && isCurrent(), ports });
    if (message !== null) return { result: { kind: 'given-up', message }, memory };
    const announce = async (intent: Intent): ReturnType<typeof ports.state.put> => {
      const state = storedStateOf(memory, scaler.spec, { uid: target.uid, intent });
      const put = { scaler, base: memory.stored, state };
      const answer = await ports.state.put(put);
      if (answer.kind === 'written')
        memory = { ...memory, stored: answer.stored, isUnannounced: false, isUnsaved: true };
      if (answer.kind === 'failed') memory = { ...memory, isUnannounced: true };
      return answer;
    };
    // A change in flight finishes even while the service stops, because each request has its own deadline.
    const neverAborted = new AbortController().signal;
    const wantedChange = {
      target,
      from: order.currentReplicas,
      to: order.desiredReplicas,
      bounds: wanted.isFixed ? null : widestBounds(scaler.spec),
      pending: memory.unresolved,
      isWanted: isCurrent,
    };
    const result = await changeReplicas({ clock, cluster, leadership, announce }, wantedChange, neverAborted);
    return { result, memory: result.kind === 'patched' ? { ...memory, wasDryRun: false } : memory };
  } finally {
    releaseTurn();
  }
}

function whyGivenUp(
  memory: Memory,
  { now, isWanted, ports }: { readonly now: Instant; readonly isWanted: boolean; readonly ports: CyclePorts },
): string | null {
  const { leadership } = ports;
  if (!isWanted) return NOT_WANTED;
  const why = leadership.whyNoWrites();
  if (why !== null) return why;
  // `now` is the time of the read of the target: a change that was unresolved then still counts as unresolved
  // after a long wait.
  return isUnderWay(memory, leadership.epoch(), now)
    ? 'waiting for a change that another replica or an earlier term of this one has announced'
    : null;
}
