/** All conditions in display order: first those of the HPA, then those of promscaler. */
export const CONDITION_TYPES = [
  'AbleToScale',
  'ScalingActive',
  'ScalingLimited',
  'Held',
  'TargetReached',
  'MetricsUnique',
  'ForecastUseful',
] as const;

export type ConditionType = (typeof CONDITION_TYPES)[number];

type Status = 'True' | 'False' | 'Unknown';

/**
 * The reasons of each condition, and the status of the condition for each reason. docs/reference/conditions.md explains
 * them.
 */
export const CONDITION_REASONS = {
  AbleToScale: {
    SucceededGetScale: 'True',
    SucceededRescale: 'True',
    ReadyForNewScale: 'True',
    ScaleUpStabilized: 'True',
    ScaleDownStabilized: 'True',
    RecoveryHold: 'True',
    BackoffUpscale: 'False',
    BackoffDownscale: 'False',
    BackoffBoth: 'False',
    FailedGetScale: 'False',
    FailedUpdateScale: 'False',
  },
  ScalingActive: {
    ValidMetricFound: 'True',
    FallbackActive: 'True',
    ReadAsZero: 'True',
    FailedGetResourceMetric: 'False',
    FailedGetContainerResourceMetric: 'False',
    FailedGetPodsMetric: 'False',
    FailedGetObjectMetric: 'False',
    FailedGetExternalMetric: 'False',
    ScalingDisabled: 'False',
    InvalidSelector: 'False',
    NotEvaluated: 'Unknown',
  },
  ScalingLimited: {
    DesiredWithinRange: 'False',
    TooManyReplicas: 'True',
    TooFewReplicas: 'True',
    ScaleUpLimit: 'True',
    ScaleDownLimit: 'True',
    NotEvaluated: 'Unknown',
  },
  Held: {
    NotHeld: 'False',
    AnnotationIgnored: 'False',
    DryRun: 'True',
    NoAutoscaler: 'True',
    Paused: 'True',
    ConflictingScaler: 'True',
    ScaleOverridden: 'True',
    StateDegraded: 'True',
    NotEvaluated: 'Unknown',
  },
  TargetReached: {
    Reached: 'True',
    Unschedulable: 'False',
    RolloutStuck: 'False',
    RolloutPaused: 'False',
    Starting: 'False',
    NotReady: 'False',
    NotEvaluated: 'Unknown',
  },
  MetricsUnique: {
    DuplicateSeries: 'False',
    NoDuplicates: 'True',
  },
  ForecastUseful: {
    WorthRaising: 'True',
  },
} as const satisfies Readonly<Record<ConditionType, Readonly<Record<string, Status>>>>;

export type ReasonOf<Type extends ConditionType> = keyof (typeof CONDITION_REASONS)[Type];

export type ConditionReason = { readonly [Type in ConditionType]: ReasonOf<Type> }[ConditionType];

/** A condition as in a HorizontalPodAutoscaler, with additional types and reasons. */
export interface Condition {
  readonly type: ConditionType;
  readonly status: Status;
  readonly reason: ConditionReason;
  readonly message: string;
}

const STATUSES: {
  readonly [Type in ConditionType]: Readonly<Record<ReasonOf<Type>, Status>>;
} = CONDITION_REASONS;

/** Returns a condition with the status for its reason. */
export function buildCondition<Type extends ConditionType>(
  type: Type,
  reason: ReasonOf<Type> & ConditionReason,
  message: string,
): Condition {
  return { type, status: STATUSES[type][reason], reason, message };
}

/** Returns the condition of a type, or undefined. */
export function conditionOf<C extends Readonly<Record<'type', string>>>(
  conditions: readonly C[],
  type: ConditionType,
): C | undefined {
  for (const condition of conditions) if (condition.type === type) return condition;
  return undefined;
}

/** Returns the condition `Held` while it is True; undefined: nothing prevents changes. */
export function activeHold<C extends Readonly<Record<'type' | 'status', string>>>(
  conditions: readonly C[],
): C | undefined {
  return conditions.find(({ type, status }) => type === 'Held' && status === 'True');
}

/**
 * Returns the clauses of the `Held` message that name annotations without effect; empty if `Held` has another reason.
 */
export function ignoredAnnotations(
  conditions: readonly Readonly<Record<'type' | 'reason' | 'message', string>>[],
): readonly string[] {
  const held = conditions.find(({ type }) => type === 'Held');
  if (held?.reason !== 'AnnotationIgnored') return [];
  return held.message.match(/annotations? [^;]*? ha(?:s|ve) no effect/g) ?? [];
}
