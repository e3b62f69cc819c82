import {
  decisionEntrySchema,
  decisionListSchema,
  errorSchema,
  eventSchemas,
  historySchema,
  limitSchema,
  metricSchema,
  outcomeSchema,
  scalerDetailSchema,
  scalerListSchema,
  scalerSchema,
} from './answer-schemas.js';
import {
  conditionSchema,
  decisionSchema,
  documentSchema,
  limitStepSchema,
  metricResultSchema,
  pastDecisionSchema,
  snapshotSchema,
  stateSchema,
  timedConditionSchema,
} from './decision-schemas.js';

/** The schemas by their names in the OpenAPI document. */
export const NAMED_SCHEMAS = {
  ScalerList: scalerListSchema,
  Scaler: scalerSchema,
  ScalerDetail: scalerDetailSchema,
  Metric: metricSchema,
  Limit: limitSchema,
  TimedCondition: timedConditionSchema,
  Outcome: outcomeSchema,
  DecisionList: decisionListSchema,
  DecisionEntry: decisionEntrySchema,
  PastDecision: pastDecisionSchema,
  Decision: decisionSchema,
  MetricResult: metricResultSchema,
  LimitStep: limitStepSchema,
  Condition: conditionSchema,
  State: stateSchema,
  Snapshot: snapshotSchema,
  Document: documentSchema,
  History: historySchema,
  DecisionEvent: eventSchemas.decision,
  FailureEvent: eventSchemas.failure,
  ReloadEvent: eventSchemas.reload,
  GapEvent: eventSchemas.gap,
  Error: errorSchema,
} as const;

export type SchemaName = keyof typeof NAMED_SCHEMAS;
