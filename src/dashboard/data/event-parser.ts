/** A message of a `text/event-stream`. */
export interface StreamMessage {
  /** The field `event`; default: `message`. */
  readonly type: string;
  readonly data: string;
}

export interface EventParser {
  /** Parses the next part of the stream, which may end anywhere. Throws `RangeError` if a message is too long. */
  readonly push: (text: string) => readonly StreamMessage[];
  /** Returns the ID of the last complete message that has an ID; null: there was none. */
  readonly lastId: () => string | null;
}

/** Maximum number of characters of a message. Messages of promscaler are shorter than 64 KiB. */
const MAX_LENGTH = 1024 * 1024;

/**
 * Creates a parser of `text/event-stream` as in the HTML standard. The package `eventsource-parser` would add 1 kB to
 * each page.
 */
export function createEventParser(): EventParser {
  let rest = '';
  let type = '';
  let data: string[] = [];
  let length = 0;
  let id: string | null = null;
  let lastId: string | null = null;

  const dispatch = (): StreamMessage | null => {
    lastId = id;
    const message =
      data.length === 0 ? null : { type: type === '' ? 'message' : type, data: data.join('\n') };
    type = '';
    data = [];
    length = 0;
    return message;
  };
  const readField = (line: string): void => {
    const colon = line.indexOf(':');
    if (colon === 0) return;
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'event') type = value;
    if (name === 'id' && !value.includes('\0')) id = value;
    if (name === 'data') {
      data.push(value);
      length += value.length;
    }
  };
  return {
    push: (text) => {
      const lines = (rest + text).split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? '';
      const messages: StreamMessage[] = [];
      for (const line of lines) {
        if (line !== '') readField(line);
        else {
          const message = dispatch();
          if (message !== null) messages.push(message);
        }
      }
      if (rest.length + length > MAX_LENGTH)
        throw new RangeError('a message of the event stream is too long');
      return messages;
    },
    lastId: () => lastId,
  };
}
