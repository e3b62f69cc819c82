import type { DecisionList, HistoryAnswer, ScalerDetail, SnapshotAnswer } from '../../../api/answers.js';
import { parseSnapshot, SnapshotError } from '../../../decision/snapshot/parse-snapshot.js';
import type { Snapshot } from '../../../decision/snapshot/snapshot.js';

export type History = HistoryAnswer;
export type DecisionEntry = DecisionList['items'][number];
export type PastDecision = NonNullable<DecisionEntry['decision']>;
export type MetricResult = PastDecision['metrics'][number];
export type LimitStep = PastDecision['limits'][number];
export type Outcome = DecisionEntry['outcome'];
export type Metric = ScalerDetail['metrics'][number];
export type Condition = DecisionEntry['conditions'][number];

/** Parses a snapshot. If it is invalid, returns the reason as a string. */
export function readSnapshot(json: SnapshotAnswer): Snapshot | string {
  try {
    return parseSnapshot(json);
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error;
    return `the snapshot cannot be read: ${error.message}. The service may be newer than this page: reload it`;
  }
}
