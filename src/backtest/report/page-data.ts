/** What the page of `--html` shows. Times are seconds since `from`. */
export interface PageData {
  readonly version: string;
  /** Unix time in seconds. */
  readonly from: number;
  readonly seconds: number;
  /** The sentence of `verdictOf`; null: no variant has figures. */
  readonly verdict: string | null;
  readonly table: PageTable;
  /** Errors of variants, and what was omitted to limit the size. */
  readonly notes: readonly string[];
  /** Lines of text; empty: no recommendation was requested. */
  readonly recommendation: readonly string[];
  readonly assumptions: readonly string[];
  /** Load divided by the capacity of a pod. */
  readonly demand: Band;
  readonly runs: readonly PageRun[];
  /** Lines of explanations without duplicates. */
  readonly lines: readonly string[];
}

export interface PageTable {
  readonly columns: readonly string[];
  readonly rows: readonly { readonly name: string; readonly cells: readonly string[] }[];
}

/** The lowest and the highest value of each interval; null: none is known. */
export interface Band {
  readonly low: readonly (number | null)[];
  readonly high: readonly (number | null)[];
}

/** A table row whose replicas are in the chart. */
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
  /** Indexes into `lines` of its explanation; empty: omitted. */
  readonly lines: readonly number[];
}
