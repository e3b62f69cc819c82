/** A request to the API server, and what became of it. Times in milliseconds of true time. */
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
  /** When the server began to work on it; null: it never got there. */
  arrivedMs: number | null;
  answeredMs: number | null;
  /** Null: no answer. */
  status: number | null;
  /** The object that a write left behind; null where nothing was written. */
  written: Written | null;
  /** A PATCH of replicas: what the object was when it arrived. */
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

/** What a query was answered with, as the world knows it. */
export type AnswerClass = 'value' | 'partial' | 'missing' | 'nan' | 'invalid' | 'failed';

export interface QueryRecord {
  readonly kind: 'query';
  readonly process: string;
  readonly source: string;
  readonly query: string;
  readonly sentMs: number;
  answeredMs: number | null;
  answer: AnswerClass;
  /** When the server that answered was started; null: none answered. */
  serverStartMs: number | null;
}

/** A watch event, a bookmark or a finished list reached a process. */
export interface HeardRecord {
  readonly kind: 'heard';
  readonly process: string;
  readonly resource: string;
  readonly atMs: number;
}

/** What the service itself says it decided. */
export interface DecisionRecord {
  readonly kind: 'decision';
  readonly process: string;
  readonly scaler: string;
  readonly atMs: number;
  readonly specReplicas: number | null;
  /** Names of the pods it saw. */
  readonly pods: readonly string[] | null;
  readonly desired: number | null;
  readonly action: string;
  readonly outcome: string;
  readonly from: number | null;
  readonly to: number | null;
  readonly reason: string;
}

/** A line of the service's own log. */
export interface LineRecord {
  readonly kind: 'line';
  readonly process: string;
  readonly atMs: number;
  readonly text: string;
}

/** What a process holds, looked at from outside. */
export interface VitalsRecord {
  readonly kind: 'vitals';
  readonly process: string;
  readonly atMs: number;
  readonly timers: number;
  readonly connections: number;
}

/** A snapshot that was recorded and decided once more. */
export interface ReplayRecord {
  readonly kind: 'replay';
  readonly process: string;
  readonly scaler: string;
  readonly atMs: number;
  readonly isSame: boolean;
}

export type LogRecord =
  ApiRecord | QueryRecord | HeardRecord | DecisionRecord | LineRecord | VitalsRecord | ReplayRecord;

/** The time a record is put in order by. */
export function timeOf(record: LogRecord): number {
  return record.kind === 'api' || record.kind === 'query' ? record.sentMs : record.atMs;
}
