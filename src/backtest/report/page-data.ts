/** What the page of `--html` shows. Times are seconds since `from`. */
export interface PageData {
  readonly version: string;
  /** Unix time in seconds. */
  readonly from: number;
  readonly seconds: number;
  readonly table: PageTable;
  /** Errors of variants, and what was left out to bound the size. */
  readonly notes: readonly string[];
  /** Lines of text; empty: none was asked for. */
  readonly recommendation: readonly string[];
  readonly assumptions: readonly string[];
  /** Load divided by the capacity of a pod. */
  readonly demand: Band;
  readonly runs: readonly PageRun[];
  /** Lines of explanations, each once. */
  readonly lines: readonly string[];
}

export interface PageTable {
  readonly columns: readonly string[];
  readonly rows: readonly { readonly name: string; readonly cells: readonly string[] }[];
}

/** The lowest and the highest value in each part of the time; null: none is known. */
export interface Band {
  readonly low: readonly (number | null)[];
  readonly high: readonly (number | null)[];
}

/** A row of the table whose replicas are drawn. */
export interface PageRun {
  readonly name: string;
  readonly replicas: readonly (readonly [at: number, count: number])[];
  readonly metrics: readonly PageMetric[];
  readonly changes: readonly PageChange[];
}

export interface PageMetric {
  readonly name: string;
  readonly isPercent: boolean;
  readonly target: number;
  readonly value: Band;
}

export interface PageChange {
  readonly at: number;
  readonly from: number;
  readonly to: number;
  /** Indexes of its explanation in `lines`; empty: left out. */
  readonly lines: readonly number[];
}
