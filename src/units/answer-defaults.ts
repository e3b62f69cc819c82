/** Default limits of a data source. Parsing 23 MiB blocks the event loop for 141 ms. */
export const ANSWER_DEFAULTS = { maxAnswerBytes: 16 * 1024 * 1024, maxSeries: 20_000 } as const;
