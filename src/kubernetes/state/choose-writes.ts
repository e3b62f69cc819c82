import { MAX_ENTRY_BYTES, type EntryProblem, type StoredEntry } from './state-entry.js';

export interface KnownEntry {
  readonly text: string;
  readonly content: StoredEntry | EntryProblem;
  /** Monotonic time of the first read of an entry written by another process; null for other entries. */
  readonly foreignSinceMs: number | null;
}

/** Replaces the entry `base` (null: no entry) with `text`. Refused if the ConfigMap contains a different entry. */
export interface BucketWrite {
  readonly key: string;
  readonly base: string | null;
  readonly text: string;
}

export type PutResult =
  /** `stored`: the entry as written; null if state is only in memory. */
  | { readonly kind: 'written'; readonly stored: string | null }
  /** Another replica wrote the entry or is the leader, so the caller must not act on its older state. */
  | { readonly kind: 'refused'; readonly message: string }
  /** The store is unusable. Source: reliability.md, W11. */
  | { readonly kind: 'failed'; readonly message: string };

export interface BucketRules {
  readonly name: string;
  readonly mayWrite: () => boolean;
  /** Whether a leader of a later term wrote the entry, which must then not be overwritten (W13). */
  readonly isWrittenByLaterTerm: (entry: KnownEntry) => boolean;
  readonly isSpent: (key: string, entry: StoredEntry) => boolean;
}

/** Half of the maximum size of a ConfigMap. Source: reliability.md, W8. */
export const MAX_BUCKET_BYTES = 512 * 1024;

interface ChosenWrites<W extends BucketWrite> {
  readonly accepted: readonly W[];
  readonly answered: readonly { readonly write: W; readonly result: PutResult }[];
  /** Keys of entries that no scaler needs, to be removed with the accepted writes. */
  readonly dropped: readonly string[];
}

export function chooseWrites<W extends BucketWrite>(
  batch: readonly W[],
  entries: ReadonlyMap<string, KnownEntry>,
  rules: BucketRules,
): ChosenWrites<W> {
  const wanted = new Set(batch.map(({ key }) => key));
  const dropped = [...entries]
    .filter(
      ([key, { content }]) => !wanted.has(key) && !('problem' in content) && rules.isSpent(key, content),
    )
    .map(([key]) => key);
  const accepted: W[] = [];
  const answered: { readonly write: W; readonly result: PutResult }[] = [];
  let bytes = sizeOf(entries, new Set(dropped));
  for (const write of batch) {
    const known = entries.get(write.key);
    const growth =
      entryBytes(write.key, write.text) - (known === undefined ? 0 : entryBytes(write.key, known.text));
    const result =
      whyRefused(write, known, rules) ?? whyImpossible(write, known) ?? whyFull(bytes, growth, rules.name);
    if (result === null) {
      accepted.push(write);
      bytes += growth;
    } else answered.push({ write, result });
  }
  return { accepted, answered, dropped };
}

function whyRefused(write: BucketWrite, known: KnownEntry | undefined, rules: BucketRules): PutResult | null {
  if (!rules.mayWrite()) return { kind: 'refused', message: 'another replica is the leader' };
  const isChanged = (known?.text ?? null) !== write.base;
  if (known !== undefined && 'problem' in known.content) return null;
  if (!isChanged && (known === undefined || !rules.isWrittenByLaterTerm(known))) return null;
  return { kind: 'refused', message: 'another replica has written the state of this scaler' };
}

function whyImpossible(write: BucketWrite, known: KnownEntry | undefined): PutResult | null {
  if (known !== undefined && 'problem' in known.content) {
    const message = `state entry ${write.key} is invalid and is not overwritten: ${known.content.problem}`;
    return { kind: 'failed', message };
  }
  const bytes = Buffer.byteLength(write.text);
  if (bytes <= MAX_ENTRY_BYTES) return null;
  const message = `state entry ${write.key} would be ${bytes} bytes long, must be at most ${MAX_ENTRY_BYTES}`;
  return { kind: 'failed', message };
}

function whyFull(bytes: number, growth: number, name: string): PutResult | null {
  if (growth <= 0 || bytes + growth <= MAX_BUCKET_BYTES) return null;
  const message = `ConfigMap ${name} is full: ${bytes} of ${MAX_BUCKET_BYTES} bytes. Remove entries of deleted scalers`;
  return { kind: 'failed', message };
}

function sizeOf(entries: ReadonlyMap<string, KnownEntry>, without: ReadonlySet<string>): number {
  let bytes = 0;
  for (const [key, { text }] of entries) if (!without.has(key)) bytes += entryBytes(key, text);
  return bytes;
}

function entryBytes(key: string, text: string): number {
  return Buffer.byteLength(key) + Buffer.byteLength(text);
}
