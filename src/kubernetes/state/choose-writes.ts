import { type Instant, secondsBetween } from '../../units/time.js';
import { isSpent, leanEntry, markAbsent, MAX_ENTRY_BYTES } from './state-entry.js';
import type { EntryProblem, StoredEntry } from './state-entry.js';
import { namespaceOfKey } from './state-key.js';
import { countOf } from '../../units/format.js';

export interface KnownEntry {
  readonly text: string;
  readonly content: StoredEntry | EntryProblem;
  /**
   * Monotonic time at which this process first read an entry of another process, which must not be overwritten; null:
   * this process wrote the entry, or `reload` has read it again.
   */
  readonly foreignSinceMs: number | null;
}

/**
 * Replaces the entry `base` with `text`; `base` null: there is no entry. The write is refused if the ConfigMap contains
 * another entry.
 */
export interface BucketWrite {
  readonly key: string;
  readonly base: string | null;
  readonly text: string;
}

export type PutResult =
  /** `stored` is the entry as it was written; null: state is only kept in memory. */
  | { readonly kind: 'written'; readonly stored: string | null }
  /**
   * Nothing was written: no write may be sent now, or the entry has changed, so that the caller must not act on its
   * older state.
   */
  | { readonly kind: 'refused'; readonly message: string }
  /** The store is unusable. Source: reliability.md, W11. */
  | { readonly kind: 'failed'; readonly message: string };

export interface BucketRules {
  readonly name: string;
  /** Returns why no writes may be sent; null: they may be sent. */
  readonly whyNoWrites: () => string | null;
  /** Returns whether a leader of a later term wrote the entry, which must then not be overwritten (W13). */
  readonly isWrittenByLaterTerm: (entry: KnownEntry) => boolean;
  readonly isKnown: (key: string) => boolean;
}

/** Size that the namespaces share equally: half of the maximum size of a ConfigMap. */
export const MAX_BUCKET_BYTES = 512 * 1024;
/** Up to this size of the ConfigMap, a namespace may still use its share. A ConfigMap has at most 1 MiB. */
const MAX_SHARED_BYTES = 960 * 1024;
/** How long the entry of a removed scaler is kept. It is the longest possible forbidden window. */
const KEEP_SECONDS = 86_400;

interface ChosenWrites<W extends BucketWrite> {
  readonly accepted: readonly W[];
  readonly answered: readonly { readonly write: W; readonly result: PutResult }[];
  /** Other entries that change together with the accepted writes; null: the entry is removed. */
  readonly others: ReadonlyMap<string, string | null>;
}

/**
 * Decides which writes are sent, and which other entries change with them. An entry whose scaler was removed is marked
 * with the time, and is removed 24 h later. Source: reliability.md, W8.
 */
export function chooseWrites<W extends BucketWrite>(
  batch: readonly W[],
  entries: ReadonlyMap<string, KnownEntry>,
  rules: BucketRules & { readonly now: Instant },
): ChosenWrites<W> {
  const space = new BucketSpace(entries);
  const wanted = new Set(batch.map(({ key }) => key));
  for (const [key, { content }] of entries) {
    if (wanted.has(key) || 'problem' in content) continue;
    const { absentSince } = content;
    if (rules.isKnown(key)) {
      if (absentSince !== null) space.change(key, markAbsent(content, null));
    } else if (absentSince === null) space.change(key, markAbsent(content, rules.now), { mayGrow: true });
    else if (secondsBetween(absentSince, rules.now) >= KEEP_SECONDS && isSpent(content, rules.now))
      space.change(key, null);
  }
  const accepted: W[] = [];
  const answered: { readonly write: W; readonly result: PutResult }[] = [];
  for (const write of batch) {
    const known = entries.get(write.key);
    const problem = whyRefused(write, known, rules) ?? whyImpossible(write, known);
    const fitting = problem === null ? fit(write, space, wanted) : null;
    if (fitting === null) {
      const result = problem ?? { kind: 'failed', message: space.whyFull(write, rules.name) };
      answered.push({ write, result });
      // The part that fits is already stored, so nothing is sent. Without this check, failing metrics would be written
      // again and again.
    } else if (fitting.text === known?.text)
      answered.push({ write, result: { kind: 'written', stored: fitting.text } });
    else accepted.push(fitting);
  }
  for (const { key } of accepted) space.others.delete(key);
  return { accepted, answered, others: space.others };
}

/** Returns the write in the longest form that fits; null: none fits. */
function fit<W extends BucketWrite>(write: W, space: BucketSpace, wanted: ReadonlySet<string>): W | null {
  if (space.change(write.key, write.text)) return write;
  const lean = { ...write, text: leanEntry(write.text) };
  if (space.change(lean.key, lean.text)) return lean;
  return space.freeSpace(lean, wanted) && space.change(lean.key, lean.text) ? lean : null;
}

function whyRefused(write: BucketWrite, known: KnownEntry | undefined, rules: BucketRules): PutResult | null {
  const why = rules.whyNoWrites();
  if (why !== null) return { kind: 'refused', message: why };
  const isChanged = (known?.text ?? null) !== write.base;
  if (known !== undefined && 'problem' in known.content) return null;
  if (!isChanged && (known === undefined || !rules.isWrittenByLaterTerm(known))) return null;
  const writer = known?.foreignSinceMs === null ? 'a later change of this replica' : 'another replica';
  return { kind: 'refused', message: `${writer} has written the state of this scaler` };
}

function whyImpossible(write: BucketWrite, known: KnownEntry | undefined): PutResult | null {
  if (known !== undefined && 'problem' in known.content) {
    const message = `state entry ${write.key} is invalid, and promscaler does not overwrite it: ${known.content.problem}`;
    return { kind: 'failed', message };
  }
  const bytes = Buffer.byteLength(write.text);
  if (bytes <= MAX_ENTRY_BYTES) return null;
  const message = `state entry ${write.key} would be ${bytes} bytes long, must be at most ${MAX_ENTRY_BYTES}`;
  return { kind: 'failed', message };
}

/** The bytes that each namespace has in the ConfigMap, including the changes so far. */
class BucketSpace {
  /** The entries that were changed; null: the entry was removed. */
  readonly others = new Map<string, string | null>();
  readonly #entries: ReadonlyMap<string, KnownEntry>;
  readonly #bytes = new Map<string, number>();
  #total = 0;

  constructor(entries: ReadonlyMap<string, KnownEntry>) {
    this.#entries = entries;
    for (const [key, { text }] of entries) this.#add(namespaceOfKey(key), entryBytes(key, text));
  }

  /**
   * Changes an entry, unless it grows and does not fit. Returns whether it was changed. A namespace within its share
   * may fill the ConfigMap beyond `MAX_BUCKET_BYTES`, so that larger namespaces cannot take its share. `mayGrow`:
   * ignores the share, because the entry only gets the mark of a removed scaler.
   */
  change(key: string, text: string | null, { mayGrow = false } = {}): boolean {
    const namespace = namespaceOfKey(key);
    const growth = (text === null ? 0 : entryBytes(key, text)) - this.#bytesOf(key);
    const total = this.#total + growth;
    const isWithinShare = mayGrow || (this.#bytes.get(namespace) ?? 0) + growth <= this.#share(namespace);
    const fits = growth <= 0 || total <= MAX_BUCKET_BYTES || (isWithinShare && total <= MAX_SHARED_BYTES);
    if (!fits) return false;
    this.#add(namespace, growth);
    this.others.set(key, text);
    return true;
  }

  /**
   * Makes room for a write of a namespace within its share. Removes data that windows and policies do not need from the
   * entries of namespaces above their share. Returns whether the write now fits.
   */
  freeSpace({ key, text }: BucketWrite, wanted: ReadonlySet<string>): boolean {
    const namespace = namespaceOfKey(key);
    const growth = entryBytes(key, text) - this.#bytesOf(key);
    const share = this.#share(namespace);
    if ((this.#bytes.get(namespace) ?? 0) + growth > share) return false;
    for (const [other, { text: full, content }] of this.#entries) {
      if (this.#total + growth <= MAX_SHARED_BYTES) break;
      const isLarge = (this.#bytes.get(namespaceOfKey(other)) ?? 0) > share;
      if (
        isLarge &&
        !wanted.has(other) &&
        !this.others.has(other) &&
        !('problem' in content || isLean(content))
      )
        this.change(other, leanEntry(full));
    }
    return this.#total + growth <= MAX_SHARED_BYTES;
  }

  whyFull({ key }: BucketWrite, name: string): string {
    const namespace = namespaceOfKey(key);
    const bytes = this.#bytes.get(namespace) ?? 0;
    const share = Math.floor(this.#share(namespace));
    const namespaces = Math.round(MAX_BUCKET_BYTES / this.#share(namespace));
    const why = `ConfigMap ${name} is full: namespace ${namespace} has ${bytes} bytes, but its share is ${share} bytes (${countOf(namespaces, 'namespace')})`;
    return `${why}. Remove scalers of this namespace, or entries of deleted scalers`;
  }

  #share(namespace: string): number {
    return MAX_BUCKET_BYTES / (this.#bytes.size + (this.#bytes.has(namespace) ? 0 : 1));
  }

  #bytesOf(key: string): number {
    const text = this.others.has(key) ? this.others.get(key) : this.#entries.get(key)?.text;
    return text === undefined || text === null ? 0 : entryBytes(key, text);
  }

  #add(namespace: string, bytes: number): void {
    this.#total += bytes;
    const left = (this.#bytes.get(namespace) ?? 0) + bytes;
    if (left > 0) this.#bytes.set(namespace, left);
    else this.#bytes.delete(namespace);
  }
}

function entryBytes(key: string, text: string): number {
  return Buffer.byteLength(key) + Buffer.byteLength(text);
}

/**
 * Returns whether `leanEntry` would remove nothing. Calling `leanEntry` for all entries to find this out would take 10
 * ms for each write, because each call parses its entry.
 */
function isLean({ failingSince, forecast, capacities, scaleEvents }: StoredEntry): boolean {
  return (
    failingSince.size === 0 &&
    forecast === undefined &&
    capacities === undefined &&
    scaleEvents.every(({ alsoAt }) => alsoAt === undefined)
  );
}
