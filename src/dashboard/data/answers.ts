import type {
  Answer,
  decisionListSchema,
  eventSchemas,
  historySchema,
  scalerDetailSchema,
  scalerListSchema,
} from '../../server/schemas/answer-schemas.js';
import type {
  overviewRowSchema,
  overviewSchema,
  scalerEventListSchema,
  scalerState,
  serviceStatusSchema,
} from '../../server/schemas/dashboard-schemas.js';
import type { snapshotSchema } from '../../server/schemas/decision-schemas.js';

export type Overview = Answer<typeof overviewSchema>;
export type OverviewRow = Answer<typeof overviewRowSchema>;
export type ScalerState = Answer<typeof scalerState>;
export type ServiceStatus = Answer<typeof serviceStatusSchema>;
export type ScalerList = Answer<typeof scalerListSchema>;
export type ScalerDetail = Answer<typeof scalerDetailSchema>;
export type DecisionList = Answer<typeof decisionListSchema>;
export type SnapshotAnswer = Answer<typeof snapshotSchema>;
export type HistoryAnswer = Answer<typeof historySchema>;
export type ScalerEventList = Answer<typeof scalerEventListSchema>;

/** An event of `/api/v1/events`. */
export type LiveEvent = {
  [Type in keyof typeof eventSchemas]: { readonly type: Type } & Answer<(typeof eventSchemas)[Type]>;
}[keyof typeof eventSchemas];
