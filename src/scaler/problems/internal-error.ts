const LONGEST_MESSAGE = 200;

/** A document that triggers a bug is rejected like an invalid one. The service can then read the other documents. */
export function internalErrorMessage(cause: unknown): string {
  const text = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
  return `reading failed (${text.slice(0, LONGEST_MESSAGE)}): this is a bug in promscaler, please report it with the document`;
}
