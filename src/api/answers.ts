import type { z } from 'zod';
import type { eventSchemas, reportedCycleSchema } from './answer-schemas.js';
import type { NAMED_SCHEMAS, SchemaName } from './named-schemas.js';

/** The JSON of an answer of the API, read-only at all levels. */
export type AnswerOf<Name extends SchemaName> = Answer<(typeof NAMED_SCHEMAS)[Name]>;

/** The JSON that a schema describes, read-only at all levels. */
export type Answer<Schema extends z.ZodType> = Frozen<z.output<Schema>>;

type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Frozen<T[Key]> } & Checked
    : T;

declare const checked: unique symbol;

/**
 * Part of each object, so that no function for unchecked JSON, such as `textIn`, takes an answer: an interface does not
 * fit an index signature.
 */
interface Checked {
  readonly [checked]?: never;
}

export type ScalerList = AnswerOf<'ScalerList'>;
/** A scaler in the list of scalers. `ScalerDetail` has the same fields and more. */
export type ScalerView = AnswerOf<'Scaler'>;
export type ScalerDetail = AnswerOf<'ScalerDetail'>;
export type MetricView = AnswerOf<'Metric'>;
export type OutcomeView = AnswerOf<'Outcome'>;
export type DecisionList = AnswerOf<'DecisionList'>;
export type DecisionEntry = AnswerOf<'DecisionEntry'>;
export type ReportedCycle = Answer<typeof reportedCycleSchema>;
export type SnapshotAnswer = AnswerOf<'Snapshot'>;
export type HistoryAnswer = AnswerOf<'History'>;
export type ForecastLoads = AnswerOf<'ForecastLoads'>;
export type Overview = AnswerOf<'Overview'>;
export type OverviewRow = AnswerOf<'OverviewRow'>;
export type ScalerState = AnswerOf<'ScalerState'>;
export type ServiceStatus = AnswerOf<'ServiceStatus'>;
export type ScalerEventList = AnswerOf<'ScalerEventList'>;

/** An event of `/api/v1/events`. */
export type LiveEvent = {
  [Type in keyof typeof eventSchemas]: { readonly type: Type } & Answer<(typeof eventSchemas)[Type]>;
}[keyof typeof eventSchemas];
