/** A row of the report. */
export interface Figure {
  readonly what: string;
  readonly figure: string;
  /** Of the event loop; empty: not measured. */
  readonly block: string;
  /** Empty: nothing is. */
  readonly promised: string;
}

export function milliseconds(ms: number): string {
  return `${ms < 10 ? ms.toFixed(2) : ms.toFixed(0)} ms`;
}
