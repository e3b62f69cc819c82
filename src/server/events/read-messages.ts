import type { ServiceEvent } from '../../telemetry/event-feed.js';
import { parseInstant } from '../../units/time.js';
import { parseJson, PeerError } from '../fleet/ask-peer.js';
import { eventSchemas } from '../../api/answer-schemas.js';
import { isEventId } from './positions.js';

/** A block of a `text/event-stream`. Null: the block has no such field. */
export interface StreamMessage {
  readonly id: string | null;
  readonly type: string | null;
  readonly data: string | null;
}

export interface MessageReader {
  /** Returns the messages that this piece of text completes. Throws `PeerError` if a message is too long. */
  readonly push: (text: string) => readonly StreamMessage[];
}

/** An event is shorter than 4 KiB. */
const LONGEST = 32 * 1024;
const FIELD = /^(id|event|data): ?(.*)$/;

/** Parses the output of `event-text.ts`: at most one line of each field. */
export function createMessageReader(): MessageReader {
  let rest = '';
  return {
    push: (text) => {
      const blocks = (rest + text).split('\n\n');
      rest = blocks.pop() ?? '';
      if ([rest, ...blocks].some(({ length }) => length > LONGEST))
        throw new PeerError('a message of the event stream is too long');
      return blocks.map(readBlock);
    },
  };
}

function readBlock(block: string): StreamMessage {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const [, name, value] = FIELD.exec(line) ?? [];
    if (name !== undefined && value !== undefined) fields.set(name, value);
  }
  const id = fields.get('id') ?? null;
  return {
    id: id !== null && isEventId(id) ? id : null,
    type: fields.get('event') ?? null,
    data: fields.get('data') ?? null,
  };
}

/** Returns a decision or failure of another replica; null: another message, or one that violates the schema. */
export function readPeerEvent({ type, data }: StreamMessage): ServiceEvent | null {
  const value = parseJson(data ?? '');
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
