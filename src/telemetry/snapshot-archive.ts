import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { snapshotToJson } from '../decision/write-json.js';
import type { Snapshot } from '../decision/snapshot.js';
import type { Instant } from '../units/time.js';

/** Packed snapshots of decisions that others have taken the place of, the oldest of all scalers first to go. */
export interface SnapshotArchive {
  /** Packs a snapshot, to be found by its scaler's `NAMESPACE/NAME` and its `now`. */
  readonly keep: (key: string, snapshot: Snapshot) => void;
  /** The JSON form of a snapshot; null where it is not kept. */
  readonly read: (key: string, at: Instant) => unknown;
  /** Forgets a scaler whose document is gone. */
  readonly remove: (key: string) => void;
}

export interface ArchiveLimits {
  /** Of all scalers together, as packed; default 3 MiB. */
  readonly totalBytes?: number;
  /** Snapshots a scaler may have; default 100, as many as the ledger has entries. */
  readonly perScaler?: number;
}

interface Kept {
  readonly key: string;
  readonly at: Instant;
  /** Deflated JSON, a byte a character: a fifth of the JSON, and far lighter than a Buffer; null once dropped. */
  packed: string | null;
}

/** What an entry costs beyond its text, as measured with 1,000 scalers: the object, its places in queue and map. */
const ENTRY_BYTES = 360;

/** An empty archive. */
export function createSnapshotArchive(limits: ArchiveLimits = {}): SnapshotArchive {
  const { totalBytes = 3 * 1024 * 1024, perScaler = 100 } = limits;
  const byScaler = new Map<string, Map<Instant, Kept>>();
  let queue: Kept[] = [];
  let first = 0;
  let live = 0;
  let bytes = 0;

  const drop = (kept: Kept): void => {
    if (kept.packed === null) return;
    bytes -= kept.packed.length + ENTRY_BYTES;
    live -= 1;
    kept.packed = null;
    const own = byScaler.get(kept.key);
    if (own?.get(kept.at) === kept) own.delete(kept.at);
    if (own?.size === 0) byScaler.delete(kept.key);
  };
  const makeRoom = (): void => {
    for (; bytes > totalBytes; first += 1) {
      const oldest = queue[first];
      if (oldest === undefined) break;
      drop(oldest);
    }
    // Most of the queue may be entries that were dropped out of their turn.
    if (queue.length < 2 * live + 64) return;
    queue = queue.slice(first).filter(({ packed }) => packed !== null);
    first = 0;
  };

  return {
    keep: (key, snapshot) => {
      const json = JSON.stringify(snapshotToJson(snapshot));
      const kept: Kept = { key, at: snapshot.now, packed: deflateRawSync(json).toString('latin1') };
      const own = byScaler.get(key) ?? new Map<Instant, Kept>();
      const same = own.get(kept.at);
      if (same !== undefined) drop(same);
      const [oldest] = own.values();
      if (oldest !== undefined && own.size >= perScaler) drop(oldest);
      byScaler.set(key, own.set(kept.at, kept));
      queue.push(kept);
      live += 1;
      bytes += (kept.packed?.length ?? 0) + ENTRY_BYTES;
      makeRoom();
    },
    read: (key, at) => {
      const packed = byScaler.get(key)?.get(at)?.packed ?? null;
      if (packed === null) return null;
      const json: unknown = JSON.parse(inflateRawSync(Buffer.from(packed, 'latin1')).toString());
      return json;
    },
    remove: (key) => {
      for (const kept of [...(byScaler.get(key)?.values() ?? [])]) drop(kept);
    },
  };
}
