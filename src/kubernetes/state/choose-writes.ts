import { MAX_ENTRY_BYTES, type EntryProblem, type StoredEntry } from './state-entry.js';

/** One entry as the ConfigMap holds it. */
export interface KnownEntry {
  readonly text: string;
  readonly content: StoredEntry | EntryProblem;
  /** Since when it is known, by the monotonic clock, where another process has written it meanwhile; else null. */
  readonly foreignSinceMs: number | null;
}

/** One entry to be written: `text` in the place of `base` (null: of none) and of nothing else. */
export interface BucketWrite {
  readonly key: string;
  readonly base: string | null;
  readonly text: string;
}

/** What the write of one entry came to. */
export type PutResult =
  /** `stored`: the text that is there now; null where state is kept in memory alone. */
  | { readonly kind: 'written'; readonly stored: string | null }
  /** Somebody else has written the entry, or leads: nothing may be done that follows from what was known before. */
  | { readonly kind: 'refused'; readonly message: string }
  /** The store can't be used: reliability.md, W11. */
  | { readonly kind: 'failed'; readonly message: string };

/** What a write has to heed. */
export interface BucketRules {
  readonly name: string;
  /** Whether this process leads at this very moment. */
  readonly mayWrite: () => boolean;
  /** Whether an entry is a rival's of a later term, which must not be overwritten (W13). */
  readonly isRivals: (entry: KnownEntry) => boolean;
  /** Whether nobody needs an entry any more. */
  readonly isSpent: (key: string, entry: StoredEntry) => boolean;
}

/** A ConfigMap can hold 1 MiB; half of it is used. Source: reliability.md, W8. */
export const MAX_BUCKET_BYTES = 512 * 1024;

/** How a batch is split. */
export interface ChosenWrites<W extends BucketWrite> {
  /** To be sent together. */
  readonly accepted: readonly W[];
  /** Not to be sent. */
  readonly answered: readonly { readonly write: W; readonly result: PutResult }[];
  /** Keys of entries that no scaler needs any more, to be removed with the accepted writes. */
  readonly dropped: readonly string[];
}

/** Splits a batch into the writes that may be sent and those that are answered without a request. */
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
  if (!rules.mayWrite()) return { kind: 'refused', message: 'another replica leads' };
  const isElse = (known?.text ?? null) !== write.base;
  if (known !== undefined && 'problem' in known.content) return null;
  if (!isElse && (known === undefined || !rules.isRivals(known))) return null;
  return { kind: 'refused', message: 'another replica has written the state of this scaler meanwhile' };
}

function whyImpossible(write: BucketWrite, known: KnownEntry | undefined): PutResult | null {
  if (known !== undefined && 'problem' in known.content) {
    const message = `the entry ${write.key} cannot be overwritten: ${known.content.problem}`;
    return { kind: 'failed', message };
  }
  const bytes = Buffer.byteLength(write.text);
  if (bytes <= MAX_ENTRY_BYTES) return null;
  const message = `the entry ${write.key} would be ${bytes} bytes long, at most ${MAX_ENTRY_BYTES} are allowed`;
  return { kind: 'failed', message };
}

function whyFull(bytes: number, growth: number, name: string): PutResult | null {
  if (growth <= 0 || bytes + growth <= MAX_BUCKET_BYTES) return null;
  const message = `ConfigMap ${name} is full: ${bytes} of ${MAX_BUCKET_BYTES} bytes; remove entries of scalers that are gone`;
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
