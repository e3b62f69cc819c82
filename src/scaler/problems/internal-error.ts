const LONGEST_MESSAGE = 200;

/**
 * The message of `internal-error`, for whatever was thrown while a document was read. A document that hits a fault of
 * ours is refused like a wrong one: it must not end the service that reads others as well.
 */
export function internalErrorMessage(cause: unknown): string {
  const text = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
  return `reading it failed (${text.slice(0, LONGEST_MESSAGE)}): this is a fault of promscaler, please report it with the document`;
}
