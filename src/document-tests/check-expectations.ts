import { CONDITION_REASONS, type ConditionReason } from '../decision/result/condition.js';
import { LIMIT_NAMES } from '../decision/result/limit-names.js';
import {
  type Finding,
  finding,
  formatPath,
  type LocatedDocument,
  type Path,
} from '../scaler/problems/finding.js';
import { didYouMean } from '../scaler/problems/nearest.js';
import type { ScalerSpec } from '../scaler/spec.js';
import { type Expectation, type TestInput, durationSeconds } from './document-test.js';

/** Reasons that a test cannot expect, because they depend on the cluster. */
const OF_THE_CLUSTER: ReadonlySet<string> = new Set<ConditionReason>([
  'SucceededRescale',
  'FailedGetScale',
  'FailedUpdateScale',
  'InvalidSelector',
  'NotEvaluated',
]);

/** Maps a condition to the reasons that a decision can have for it. */
export const REASONS: ReadonlyMap<string, readonly string[]> = new Map(
  (['AbleToScale', 'ScalingActive', 'ScalingLimited'] as const).map((type) => [
    type,
    Object.keys(CONDITION_REASONS[type]).filter((reason) => !OF_THE_CLUSTER.has(reason)),
  ]),
);

interface ExpectationContext {
  readonly spec: ScalerSpec;
  readonly locate: LocatedDocument['locate'];
  readonly maxSeconds: number;
  /** Whether the load of the test waits in a queue. */
  readonly hasQueue: boolean;
}

/**
 * Checks the expectations and returns them, sorted by round. Expectations for the same round must not contradict each
 * other.
 */
export function checkExpectations(
  inputs: TestInput['expect'],
  path: Path,
  context: ExpectationContext,
): { readonly expectations: readonly Expectation[]; readonly findings: readonly Finding[] } {
  const findings: Finding[] = [];
  const byRound = new Map<number, Expectation>();
  const expectations = inputs.map((input, index) => {
    const at = [...path, index];
    const expectation = expectationOf(input, at, context);
    findings.push(...checkOne(expectation, input, at, context));
    const other = byRound.get(expectation.roundSeconds);
    if (other !== undefined && contradicts(expectation, other)) {
      const message = `${formatPath(at)} contradicts the expectation at ${other.at}: both apply to the round at ${expectation.roundSeconds}s`;
      findings.push(finding('wrong-settings', at, message));
    }
    if (other === undefined) byRound.set(expectation.roundSeconds, expectation);
    return expectation;
  });
  return { expectations: expectations.sort((a, b) => a.roundSeconds - b.roundSeconds), findings };
}

function expectationOf(
  input: TestInput['expect'][number],
  path: Path,
  { spec, locate }: ExpectationContext,
): Expectation {
  const atSeconds = durationSeconds(input.at) ?? 0;
  return {
    place: locate(finding('wrong-value', path, '')).place,
    at: String(input.at),
    atSeconds,
    roundSeconds: Math.floor(atSeconds / spec.syncPeriodSeconds) * spec.syncPeriodSeconds,
    replicas: input.replicas ?? null,
    recommendedReplicas: input.recommendedReplicas ?? null,
    limits: input.limits ?? null,
    conditions: input.conditions ?? {},
    maxDepth: input.maxDepth ?? null,
    maxWaitSeconds: input.maxWait === undefined ? null : durationSeconds(input.maxWait),
    maxLostPercent: input.maxLostPercent ?? null,
  };
}

function checkOne(
  { atSeconds, limits, conditions, replicas, recommendedReplicas }: Expectation,
  input: TestInput['expect'][number],
  path: Path,
  { maxSeconds, hasQueue }: ExpectationContext,
): readonly Finding[] {
  const findings: Finding[] = [];
  const add = (code: 'out-of-range' | 'wrong-value' | 'missing-field', at: Path, rule: string): void =>
    void findings.push(finding(code, at, `${formatPath(at)} ${rule}`));
  if (atSeconds > maxSeconds)
    add(
      'out-of-range',
      [...path, 'at'],
      `is ${String(input.at)}, must be at most ${maxSeconds}s (100,000 rounds)`,
    );
  (limits ?? []).forEach((limit, index) => {
    if (!LIMIT_NAMES.some((name) => name === limit))
      add(
        'wrong-value',
        [...path, 'limits', index],
        `is ${JSON.stringify(limit)}, which is not a limit${didYouMean(limit, LIMIT_NAMES)}`,
      );
  });
  for (const [type, reason] of Object.entries(conditions)) {
    const rule = conditionRule(type, reason);
    if (rule !== null) add('wrong-value', [...path, 'conditions', type], rule);
  }
  const ofQueue = ['maxDepth', 'maxWait', 'maxLostPercent'].filter((field) => field in input);
  for (const field of hasQueue ? [] : ofQueue)
    add('wrong-value', [...path, field], 'needs a load with the field `queue` or `metrics`');
  const isEmpty = replicas === null && recommendedReplicas === null && limits === null;
  if (isEmpty && Object.keys(conditions).length === 0 && ofQueue.length === 0)
    add(
      'missing-field',
      path,
      'is empty, must have replicas, recommendedReplicas, limits, conditions, maxDepth, maxWait or maxLostPercent',
    );
  return findings;
}

/** Returns why a decision cannot have this condition with this reason; null: a decision can have it. */
function conditionRule(type: string, reason: string): string | null {
  const known = REASONS.get(type);
  if (known === undefined)
    return `is not a condition of a decision, must be one of ${[...REASONS.keys()].join(', ')}`;
  if (known.includes(reason)) return null;
  const hint = didYouMean(reason, known);
  const rule = hint === '' ? `, must be one of ${known.join(', ')}` : hint;
  return `is ${JSON.stringify(reason)}, which is not a reason of ${type} in a decision${rule}`;
}

function contradicts(one: Expectation, other: Expectation): boolean {
  const differs = (a: number | string | null, b: number | string | null): boolean =>
    a !== null && b !== null && a !== b;
  return (
    differs(one.replicas, other.replicas) ||
    differs(one.recommendedReplicas, other.recommendedReplicas) ||
    differs(one.limits?.join(' ') ?? null, other.limits?.join(' ') ?? null) ||
    Object.entries(one.conditions).some(([type, reason]) => differs(reason, other.conditions[type] ?? null))
  );
}
