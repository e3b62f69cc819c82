const NOT_SENT = 'the query was not sent:';

/**
 * Returns the message of a query that was not sent, because the last `failures` queries failed. `last`: the message of
 * the last failure; null: unknown.
 */
export function notSentMessage(failures: number, last: string | null): string {
  const why = last === null ? '' : ` (${last})`;
  return `${NOT_SENT} after ${failures} failures in a row, only one query per round is sent to the data source${why}`;
}

/** Returns the message of the last failure, if the message is one of `notSentMessage`; otherwise the same message. */
export function causeOfMessage(message: string): string {
  return message.startsWith(NOT_SENT) ? message.slice(message.indexOf('(') + 1) : message;
}
