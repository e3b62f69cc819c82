import { createParser } from 'eventsource-parser';
import type { ServiceEvent } from '../../telemetry/event-feed.js';
import { parseInstant } from '../../units/time.js';
import { parseJson, PeerError } from '../fleet/ask-peer.js';
import { eventSchemas } from '../../api/answer-schemas.js';
import { isEventId } from './event-text.js';

/** A message of a `text/event-stream`. Null: it has no such field. */
export interface StreamMessage {
  readonly id: string | null;
  readonly type: string | null;
  readonly data: string;
}

/** An event is shorter than 4 KiB. */
const LONGEST = 32 * 1024;

/**
 * Returns a function that takes the text of a stream in pieces. It calls `onMessage` for each message with data, and
 * throws `PeerError` if a message is too long, and any error of `onMessage`.
 */
export function createMessageReader(onMessage: (message: StreamMessage) => void): (text: string) => void {
  const throwTooLong = (): never => {
    throw new PeerError('a message of the event stream is too long');
  };
  const parser = createParser({
    maxBufferSize: LONGEST,
    onEvent: ({ id, event, data }) => {
      if (data.length > LONGEST) throwTooLong();
      onMessage({ id: id !== undefined && isEventId(id) ? id : null, type: event ?? null, data });
    },
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') throwTooLong();
    },
  });
  return (text) => parser.feed(text);
}

/** Returns a decision or failure of another replica; null: another message, or one that violates the schema. */
export function readPeerEvent({ type, data }: StreamMessage): ServiceEvent | null {
  const value = parseJson(data);
  if (type === 'decision') {
    const { data: facts } = eventSchemas.decision.safeParse(value);
    const at = parseInstant(facts?.at ?? '');
    return facts === undefined || at === null ? null : { ...facts, type, at };
  }
  if (type === 'failure') {
    const { data: facts } = eventSchemas.failure.safeParse(value);
    const at = parseInstant(facts?.at ?? '');
    return facts === undefined || at === null ? null : { ...facts, type, at };
  }
  return null;
}
