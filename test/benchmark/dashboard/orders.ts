/** Orders to the process that serves, and its answers. */
export type Order =
  /** Decides for all scalers, as in a round. */
  | { readonly type: 'round' }
  /** Publishes decisions of single scalers, one every `everyMs`. */
  | { readonly type: 'decisions'; readonly count: number; readonly everyMs: number }
  /** Publishes events of about this size as fast as they can be sent. */
  | { readonly type: 'flood'; readonly megabytes: number }
  | { readonly type: 'reset' }
  | { readonly type: 'figures' };

export type Reply =
  | { readonly type: 'ready'; readonly url: string }
  | { readonly type: 'done' }
  | { readonly type: 'figures'; readonly figures: ProcessFigures };

/** Since the last reset. */
export interface ProcessFigures {
  /** Longest delay of a timer, without the time in which the main thread waited for a processor. */
  readonly longestBlockMs: number;
  readonly cpuMs: number;
  readonly residentBytes: number;
  readonly streams: number;
}
