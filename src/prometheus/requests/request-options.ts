import type { SendResult } from './send.js';

export interface QueryOptions {
  /** Total over all urls of a source; at least 1. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** False: one attempt only, because the source is known to fail. Default: true. */
  readonly mayRetry?: boolean;
  /** The only namespace that needs the query. Unset: several, or the service itself. */
  readonly namespace?: string | undefined;
}

export type GetPage = (
  path: string,
  options: QueryOptions & { readonly accept?: string },
) => Promise<SendResult>;
