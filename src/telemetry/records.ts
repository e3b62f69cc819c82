import type { Clock } from '../units/clock.js';
import { createEventFeed } from './event-feed.js';
import type { EventFeed } from './event-feed.js';
import { createHistory } from './history.js';
import type { History } from './history.js';
import { createLedger } from './ledger.js';
import type { Ledger } from './ledger.js';
import { createSnapshotArchive } from './snapshot-archive.js';
import type { SnapshotArchive } from './snapshot-archive.js';

/** All that is kept of the cycles of a process. Bounded in itself, whatever comes. */
export interface Records {
  readonly ledger: Ledger;
  readonly archive: SnapshotArchive;
  readonly history: History;
  readonly feed: EventFeed;
}

/** Empty records. `hasReaders` false: what only pages show, snapshots of the past and points for charts, is not kept. */
export function createRecords(clock: Clock, { hasReaders = true } = {}): Records {
  // Two processes that start in the same millisecond are told apart by chance.
  const run = `${clock.now().toString(36)}${Math.floor(clock.random() * 36 ** 4).toString(36)}`;
  return {
    ledger: createLedger(),
    archive: hasReaders ? createSnapshotArchive() : EMPTY_ARCHIVE,
    history: hasReaders ? createHistory() : EMPTY_HISTORY,
    feed: createEventFeed(run),
  };
}

const nothing = (): void => undefined;
const EMPTY_ARCHIVE: SnapshotArchive = { keep: nothing, read: () => null, remove: nothing };
const EMPTY_HISTORY: History = { add: nothing, read: () => null, remove: nothing };
