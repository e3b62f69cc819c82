import { decide } from '../decision/decide.js';
import type { Decision } from '../decision/decision.js';
import type { Snapshot } from '../decision/snapshot.js';
import type { ScaleTarget } from '../kubernetes/types.js';
import { noChange } from '../telemetry/cycle-record.js';
import type { CycleRecord, Outcome } from '../telemetry/cycle-record.js';
import type { Instant } from '../units/time.js';
import { changeReplicas } from './act.js';
import type { ScaleResult } from './act.js';
import { cannotReadTarget, heldCondition, updateFailed, updateSucceeded } from './loop-conditions.js';
import { freshMemory, resolveChange, withoutChange } from './memory.js';
import type { Memory } from './memory.js';
import { observe } from './observe.js';
import type { Observation } from './observe.js';
import type { CycleInput, CycleOutput, CyclePorts } from './ports.js';
import { whyHeld } from './why-held.js';
import type { Hold } from './why-held.js';

/** How often a cycle decides anew because somebody changed the count between the decision and the PATCH. */
const MAX_DECISIONS = 3;

/**
 * One cycle: observe, decide, act, and the record of it. Failures of the outside are part of the record; what is
 * thrown is our own fault.
 */
export async function runCycle(input: CycleInput, ports: CyclePorts): Promise<CycleOutput> {
  const startMs = ports.clock.monotonicMs();
  const observation = await observe(input, ports);
  const observeSeconds = (ports.clock.monotonicMs() - startMs) / 1000;
  if ('failure' in observation) return unobserved(input, ports, { observation, observeSeconds });
  return decideAndAct(input, ports, { observation, observeSeconds });
}

function unobserved(
  { scaler, memory, now }: CycleInput,
  { dryRun }: CyclePorts,
  seen: { readonly observation: Extract<Observation, { failure: unknown }>; readonly observeSeconds: number },
): CycleOutput {
  const record: CycleRecord = {
    scaler,
    at: now,
    snapshot: null,
    decision: null,
    outcome: noChange(null),
    conditions: cannotReadTarget(seen.observation.failure),
    paused: scaler.spec.paused,
    dryRun: dryRun || scaler.spec.dryRun,
    seconds: { observe: seen.observeSeconds, decide: 0, act: 0 },
  };
  return { memory, record, target: seen.observation.target };
}

async function decideAndAct(
  input: CycleInput,
  ports: CyclePorts,
  seen: {
    readonly observation: Extract<Observation, { snapshot: unknown }>;
    readonly observeSeconds: number;
  },
): Promise<CycleOutput> {
  const { observation, observeSeconds } = seen;
  const { scaler, now } = input;
  const { clock } = ports;
  const decideStartMs = clock.monotonicMs();
  let { snapshot, memory } = observation;
  let decision = decide(snapshot);
  const decideSeconds = (clock.monotonicMs() - decideStartMs) / 1000;
  const { otherScaler } = observation;
  let hold = whyHeld({ ...input, memory, decision, otherScaler, ports });
  let result = await act(input, ports, { target: observation.target, decision, hold });
  for (let count = 1; result?.kind === 'moved' && count < MAX_DECISIONS; count += 1) {
    memory = resolveChange(memory, result, now);
    snapshot = movedTo(snapshot, result, memory);
    decision = decide(snapshot);
    hold = whyHeld({ ...input, memory, decision, otherScaler, ports });
    result = await act(input, ports, { target: observation.target, decision, hold });
  }
  const actSeconds = (clock.monotonicMs() - decideStartMs) / 1000 - decideSeconds;
  const record: CycleRecord = {
    scaler,
    at: now,
    snapshot,
    decision,
    outcome: outcomeOf(decision, hold, result),
    conditions: [...conditionsOf(decision, result), heldCondition(hold, overrideOf(decision, result))],
    paused: scaler.spec.paused,
    dryRun: ports.dryRun || scaler.spec.dryRun,
    seconds: { observe: observeSeconds, decide: decideSeconds, act: actSeconds },
  };
  // A PATCH that was accepted shuts out an earlier one whose answer was lost: both had the same resourceVersion.
  const settled = result?.kind === 'patched' ? { ...memory, unresolved: null } : memory;
  const remembered = remember(settled, { now, snapshot, decision, result });
  return { memory: remembered, record, target: observation.target };
}

/** The snapshot from the count that somebody else has set meanwhile. */
function movedTo(
  snapshot: Snapshot,
  { specReplicas, statusReplicas }: Snapshot['target'],
  { state }: Memory,
): Snapshot {
  const { holdScaleDownUntil, holdReason } = snapshot.state;
  return {
    ...snapshot,
    target: { specReplicas, statusReplicas },
    state: { ...state, holdScaleDownUntil, holdReason },
  };
}

/** The change that the decision asks for; null where it asks for none or something holds it back. */
async function act(
  { isCurrent, signal }: CycleInput,
  { cluster, leadership, takeTurn }: CyclePorts,
  {
    target,
    decision,
    hold,
  }: { readonly target: ScaleTarget; readonly decision: Decision; readonly hold: Hold | null },
): Promise<ScaleResult | null> {
  if (decision.action === 'none' || hold !== null) return null;
  const done = await takeTurn();
  try {
    const isAllowed = (): boolean => isCurrent() && leadership.mayWrite();
    if (signal.aborted || !isAllowed()) return null;
    // A change that has begun is brought to its end also while the service stops: the cluster has its own deadlines.
    const patience = new AbortController().signal;
    const change = { target, from: decision.currentReplicas, to: decision.desiredReplicas, isAllowed };
    return await changeReplicas(cluster, change, patience);
  } finally {
    done();
  }
}

function outcomeOf(decision: Decision, hold: Hold | null, result: ScaleResult | null): Outcome {
  const { currentReplicas: from, desiredReplicas: to } = decision;
  if (decision.action === 'none') return noChange(from);
  if (hold !== null) return { kind: hold.outcome, from, to, message: hold.message };
  if (result === null)
    return {
      kind: 'conflict',
      from,
      to,
      message: 'the scaler is not wanted any more, or another replica leads',
    };
  switch (result.kind) {
    case 'patched':
      return result.replicas === to
        ? { kind: 'patched', from, to, message: '' }
        : {
            kind: 'replaced',
            from,
            to: result.replicas,
            message: `asked for ${to}, the server made it ${result.replicas}`,
          };
    case 'moved':
    case 'recreated':
      return { kind: 'conflict', from, to, message: result.message };
    case 'failed':
      return { kind: 'failed', from, to, message: result.message };
    default:
      return result satisfies never;
  }
}

function conditionsOf(decision: Decision, result: ScaleResult | null): Decision['conditions'] {
  if (result?.kind === 'patched') return updateSucceeded(decision, result.replicas);
  return result?.kind === 'failed' ? updateFailed(decision, result.message) : decision.conditions;
}

function overrideOf(decision: Decision, result: ScaleResult | null): Memory['override'] {
  if (result?.kind !== 'patched' || result.replicas === decision.desiredReplicas) return null;
  return { wanted: decision.desiredReplicas, got: result.replicas };
}

function remember(
  memory: Memory,
  cycle: {
    readonly now: Instant;
    readonly snapshot: Snapshot;
    readonly decision: Decision;
    readonly result: ScaleResult | null;
  },
): Memory {
  const { now, snapshot, decision, result } = cycle;
  if (result?.kind === 'recreated') return freshMemory(now, null);
  const unchanged = withoutChange(decision.state, snapshot.state);
  const isKept =
    decision.desiredReplicas === memory.override?.wanted &&
    snapshot.target.specReplicas === memory.override.got;
  const override = overrideOf(decision, result) ?? (isKept ? memory.override : null);
  if (result?.kind === 'failed' && result.unresolved !== null) {
    const { currentReplicas: from, desiredReplicas: to } = decision;
    const unresolved = { from, to, at: now, resourceVersion: result.unresolved };
    return { ...memory, override, state: unchanged, unresolved };
  }
  const isMade = result?.kind === 'patched' && result.replicas === decision.desiredReplicas;
  if (result?.kind === 'patched' && !isMade)
    return rememberOverride({ ...memory, override, state: unchanged }, cycle, result.replicas);
  return { ...memory, override, state: isMade || decision.action === 'none' ? decision.state : unchanged };
}

/** What an admission webhook made of a change is a change all the same: windows and policies count what came of it. */
function rememberOverride(
  memory: Memory,
  { now, decision }: { readonly now: Instant; readonly decision: Decision },
  replicas: number,
): Memory {
  const change = replicas - decision.currentReplicas;
  if (change === 0) return memory;
  const { state } = memory;
  return {
    ...memory,
    state: {
      ...state,
      scaleEvents: [...state.scaleEvents, { at: now, change }],
      lastScaleUp: change > 0 ? now : state.lastScaleUp,
      lastScaleDown: change < 0 ? now : state.lastScaleDown,
    },
  };
}
