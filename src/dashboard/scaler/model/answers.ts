import type { DecisionList, HistoryAnswer, ScalerDetail } from '../../../api/answers.js';

export type History = HistoryAnswer;
export type DecisionEntry = DecisionList['items'][number];
export type PastDecision = NonNullable<DecisionEntry['decision']>;
export type MetricResult = PastDecision['metrics'][number];
export type LimitStep = PastDecision['limits'][number];
export type Outcome = DecisionEntry['outcome'];
export type Metric = ScalerDetail['metrics'][number];
export type Condition = DecisionEntry['conditions'][number];
