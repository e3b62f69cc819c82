import { cleanText } from '../../units/clean-text.js';
import type { ServiceEvent } from '../../telemetry/event-feed.js';
import { formatInstant, type Instant } from '../../units/time.js';
import type { Viewer } from '../access/viewer.js';

/** `gap`: events before this one are lost. */
export interface StreamedEvent {
  readonly id: string;
  readonly event: ServiceEvent | { readonly type: 'gap'; readonly at: Instant };
}

/** The source of the events of streams: the feed of this replica, or the feeds of all replicas. */
export interface EventSource {
  /** Returns a function that unsubscribes. */
  readonly subscribe: (listener: (event: StreamedEvent) => void) => () => void;
  /** Returns the events after this ID; null: the ID is too old or unknown. */
  readonly since: (id: string) => readonly StreamedEvent[] | null;
  /** ID of the newest event; without events, an ID before the first one. */
  readonly lastId: () => string;
}

/** Returns the events as text, without events of namespaces that the client may not see. */
export function textOf(events: readonly StreamedEvent[], viewer: Viewer): string {
  return events
    .filter(({ event }) => !('namespace' in event) || viewer.sees(event.namespace))
    .map((event) => eventText(event, viewer))
    .join('');
}

/** JSON has no line breaks, so one `data` line suffices. */
function eventText({ id, event }: StreamedEvent, { seesAll }: Viewer): string {
  const { type, ...facts } = event;
  const counts = type === 'reload' && !seesAll ? { scalers: null, errors: null } : {};
  const data = cleanText(JSON.stringify({ ...facts, ...counts, at: formatInstant(event.at) }));
  return `id: ${id}\nevent: ${type}\ndata: ${data}\n\n`;
}

/** `replicaHash` -> ID of the last received event. */
type Positions = ReadonlyMap<string, string>;

const MOST_REPLICAS = 64;
const ID = /^[\w-]{1,64}$/;
const ENTRY = /^([\w-]{1,16})\.([\w-]{1,64})$/;

export function isEventId(text: string): boolean {
  return ID.test(text);
}

/** Returns the ID of an event in the merged events of all replicas, such as `aB3-x0.mq1-17~Zz9_k2.mq4-3`. */
export function writePositions(positions: Positions): string {
  return [...positions].map(([hash, id]) => `${hash}.${id}`).join('~');
}

/** Returns null if the text is not such an ID. */
export function readPositions(text: string): Positions | null {
  const parts = text.split('~');
  if (parts.length > MOST_REPLICAS) return null;
  const positions = new Map<string, string>();
  for (const part of parts) {
    const [, hash, id] = ENTRY.exec(part) ?? [];
    if (hash === undefined || id === undefined || positions.has(hash)) return null;
    positions.set(hash, id);
  }
  return positions;
}
