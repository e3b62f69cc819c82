/** A request to the API server, and its result. Times in milliseconds of true time. */
export interface ApiRecord {
  readonly kind: 'api';
  readonly process: string;
  readonly sentMs: number;
  readonly method: string;
  readonly path: string;
  readonly resource: string;
  readonly subresource: string | null;
  readonly namespace: string | null;
  readonly name: string | null;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** When the server began to process it; null: it never arrived. */
  arrivedMs: number | null;
  answeredMs: number | null;
  /** Null: no answer. */
  status: number | null;
  /** The object after a write; null without a write. */
  written: Written | null;
  /** A PATCH of replicas: the object when it arrived. */
  live: { readonly uid: string; readonly replicas: number; readonly resourceVersion: string } | null;
}

export interface Written {
  readonly atMs: number;
  readonly uid: string;
  /** Replicas before and after; null for an object without. */
  readonly from: number | null;
  readonly to: number | null;
  readonly object: unknown;
}

/** The true class of a query's answer. */
export type AnswerClass = 'value' | 'partial' | 'missing' | 'nan' | 'invalid' | 'failed';

/** The `query` of a record of a query for the age of samples. */
export const AGE_NAME = 'an age';

export interface QueryRecord {
  readonly kind: 'query';
  readonly process: string;
  readonly source: string;
  readonly query: string;
  readonly sentMs: number;
  answeredMs: number | null;
  answer: AnswerClass;
  /** When the answering server was started; null: no answer. */
  serverStartMs: number | null;
  /** Since when a store has been missing from the answers; null: none is. */
  storeLostMs: number | null;
  /** The workloads whose values are based on old samples: too many are missing at an end of the range. */
  old: readonly string[];
}

/** A watch event, a bookmark or a completed list that reached a process. */
export interface HeardRecord {
  readonly kind: 'heard';
  readonly process: string;
  readonly resource: string;
  readonly atMs: number;
}

/** A decision as the service reported it. */
export interface DecisionRecord {
  readonly kind: 'decision';
  readonly process: string;
  readonly scaler: string;
  readonly atMs: number;
  readonly specReplicas: number | null;
  /** Names of the pods that it read. */
  readonly pods: readonly string[] | null;
  readonly desired: number | null;
  readonly action: string;
  readonly outcome: string;
  readonly from: number | null;
  readonly to: number | null;
  /** Lowest and highest count of the document that it used. */
  readonly bounds: readonly [number, number];
  readonly reason: string;
}

/** A log entry of the service. */
export interface LineRecord {
  readonly kind: 'line';
  readonly process: string;
  readonly atMs: number;
  readonly text: string;
}

/** Resources of a process, measured from outside. */
export interface VitalsRecord {
  readonly kind: 'vitals';
  readonly process: string;
  readonly atMs: number;
  readonly timers: number;
  readonly connections: number;
}

/** A recorded snapshot that was decided again. */
export interface ReplayRecord {
  readonly kind: 'replay';
  readonly process: string;
  readonly scaler: string;
  readonly atMs: number;
  readonly isSame: boolean;
}

/** A back-test of a document. */
export interface BackTestRecord {
  readonly kind: 'back-test';
  readonly process: string;
  readonly scaler: string;
  readonly atMs: number;
  /** When it ended by itself, or the service stopped it; null: neither. */
  endedMs: number | null;
}

export type LogRecord =
  | ApiRecord
  | QueryRecord
  | HeardRecord
  | DecisionRecord
  | LineRecord
  | VitalsRecord
  | ReplayRecord
  | BackTestRecord;

/** Returns the time that orders a record. */
export function timeOf(record: LogRecord): number {
  return record.kind === 'api' || record.kind === 'query' ? record.sentMs : record.atMs;
}
