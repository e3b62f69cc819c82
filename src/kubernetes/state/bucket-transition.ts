import { rateLimitMs } from '../requests/retry.js';
import { UNKNOWN_OUTCOME, type KubernetesError } from '../api/types.js';
import {
  chooseWrites,
  type BucketWrite,
  type KnownEntry,
  type PutResult,
  type BucketRules,
} from './choose-writes.js';
import { clampFuture, readEntry } from './state-entry.js';
import {
  explainStateFailure,
  STATE_WRITE_MS,
  type StateMap,
  type StateMapChange,
} from './state-config-map.js';
import type { Facts } from '../../units/log.js';
import type { Instant } from '../../units/time.js';

/** What is known about one ConfigMap of the state store, and the write in progress. */
export interface BucketState<W extends BucketWrite> {
  /** The content as last read or written; null: it was not read yet. */
  readonly known: KnownMap | null;
  readonly failure: { readonly message: string; readonly atMs: number } | null;
  /** Whether the last write may have changed the ConfigMap since it was read. */
  readonly isStale: boolean;
  readonly isDoubtful: boolean;
  /** The last entry sent for each key. If the ConfigMap contains it, this replica has written it. */
  readonly sent: ReadonlyMap<string, string>;
  readonly writing: Writing<W> | null;
}

interface KnownMap extends Pick<StateMap, 'resourceVersion' | 'createdAt'> {
  readonly entries: ReadonlyMap<string, KnownEntry>;
  readonly readMs: number;
}

interface Writing<W extends BucketWrite> {
  readonly writes: readonly W[];
  /** Entries that the PATCH in flight changes besides the entries of `writes`; null: it removes the entry. */
  readonly others: ReadonlyMap<string, string | null>;
  readonly conflicts: number;
  readonly endMs: number;
}

export type BucketEvent<W extends BucketWrite> =
  /** The ConfigMap was read. `isReload`: entries that other replicas wrote before this read may be overwritten. */
  | { readonly type: 'read'; readonly map: StateMap; readonly isReload: boolean }
  | { readonly type: 'read-failed'; readonly error: KubernetesError }
  /** Writes are requested. `endMs`: monotonic time after which none is sent. */
  | { readonly type: 'write'; readonly writes: readonly W[]; readonly endMs: number }
  /** The `read` or `wait` that the last transition requested has ended. */
  | { readonly type: 'retry' }
  | { readonly type: 'patched'; readonly resourceVersion: string }
  | { readonly type: 'patch-failed'; readonly error: KubernetesError };

/** What must be done after a transition. At most one effect is a `patch`, `read` or `wait`, and it is the last one. */
export type BucketEffect<W extends BucketWrite> =
  | {
      readonly type: 'log';
      readonly level: 'info' | 'warn';
      readonly facts: Facts;
      readonly message: string;
    }
  | { readonly type: 'answer'; readonly write: W; readonly result: PutResult }
  /** Send the PATCH, then dispatch `patched` or `patch-failed`. */
  | { readonly type: 'patch'; readonly change: StateMapChange }
  /** Read the ConfigMap, then dispatch `retry`. */
  | { readonly type: 'read' }
  /** Wait, then dispatch `retry`. */
  | { readonly type: 'wait'; readonly ms: number };

export interface BucketContext extends BucketRules {
  readonly namespace: string;
  readonly now: Instant;
  readonly nowMs: number;
}

interface Transition<W extends BucketWrite> {
  readonly state: BucketState<W>;
  readonly effects: readonly BucketEffect<W>[];
}

/**
 * Short: while the store is unusable, scale-ups store no intent, and a restarted process has no windows. Not 0: each
 * change of a round would repeat the failing read. Source: reliability.md, W11.
 */
const RETRY_UNUSABLE_MS = 1000;
const RETRY_UNUSABLE_ENTRY_MS = 60_000;

export const UNREAD: BucketState<never> = {
  known: null,
  failure: null,
  isStale: false,
  isDoubtful: false,
  sent: new Map(),
  writing: null,
};

/**
 * Returns whether the ConfigMap must be read before it is used: it was never read, or the last write may have changed
 * it. An unusable ConfigMap is read again after 1 s, an invalid entry of `key` after 60 s.
 */
export function isReadDue(
  { known, failure, isStale }: BucketState<BucketWrite>,
  key: string | null,
  nowMs: () => number,
): boolean {
  if (failure !== null) return nowMs() - failure.atMs >= RETRY_UNUSABLE_MS;
  if (known === null || isStale) return true;
  const entry = key === null ? undefined : known.entries.get(key);
  return (
    entry !== undefined && 'problem' in entry.content && nowMs() - known.readMs >= RETRY_UNUSABLE_ENTRY_MS
  );
}

/** After this many consecutive conflicts, the ConfigMap counts as unusable. */
const MAX_CONFLICTS = 4;

export function transition<W extends BucketWrite>(
  state: BucketState<W>,
  event: BucketEvent<W>,
  context: BucketContext,
): Transition<W> {
  switch (event.type) {
    case 'read':
      return afterRead(state, event, context);
    case 'read-failed':
      return fail(state, explainStateFailure(event.error, context, 'get'), context);
    case 'write': {
      const { writes, endMs } = event;
      return send({ ...state, writing: { writes, others: new Map(), conflicts: 0, endMs } }, context);
    }
    case 'retry':
      return send(state, context);
    case 'patched':
      return afterPatch(state, event.resourceVersion);
    case 'patch-failed':
      return state.writing === null
        ? { state, effects: [] }
        : afterFailedPatch({ ...state, writing: state.writing }, event.error, context);
    default:
      return event satisfies never;
  }
}

type StateWriting<W extends BucketWrite> = BucketState<W> & { readonly writing: Writing<W> };

function afterRead<W extends BucketWrite>(
  state: BucketState<W>,
  { map, isReload }: { readonly map: StateMap; readonly isReload: boolean },
  context: BucketContext,
): Transition<W> {
  const { data, resourceVersion, createdAt } = map;
  const effects: BucketEffect<W>[] = [];
  const entries = new Map<string, KnownEntry>();
  for (const [key, text] of Object.entries(data)) {
    const read = readKnownEntry(state, { key, text, isReload }, context);
    entries.set(key, read.entry);
    if (read.warning !== null) effects.push(read.warning);
  }
  const configMap = nameOf(context);
  if (state.failure !== null)
    effects.push({
      type: 'log',
      level: 'info',
      facts: { configMap },
      message: 'scaler state is persisted again',
    });
  const known = { resourceVersion, createdAt, entries, readMs: context.nowMs };
  const sent = new Map([...state.sent].filter(([key]) => entries.has(key)));
  return { state: { ...state, known, sent, isStale: false, failure: null }, effects };
}

function readKnownEntry<W extends BucketWrite>(
  { known, sent }: BucketState<W>,
  { key, text, isReload }: { readonly key: string; readonly text: string; readonly isReload: boolean },
  context: BucketContext,
): { readonly entry: KnownEntry; readonly warning: BucketEffect<W> | null } {
  const before = known?.entries.get(key);
  if (before?.text === text)
    return { entry: isReload ? { ...before, foreignSinceMs: null } : before, warning: null };
  const warn = (message: string, facts: object = {}): BucketEffect<W> => ({
    type: 'log',
    level: 'warn',
    facts: { configMap: nameOf(context), key, ...facts },
    message,
  });
  const isForeign = !isReload && known !== null && sent.get(key) !== text;
  const foreignSinceMs = isForeign ? context.nowMs : null;
  const content = readEntry(text);
  if ('problem' in content) {
    const warning = warn('invalid state entry; leaving it unchanged', {
      problem: content.problem,
    });
    return { entry: { text, content, foreignSinceMs }, warning };
  }
  const clamped = clampFuture(content, context.now);
  const isAhead = clamped !== content;
  const warning = isAhead ? warn('state entry has times in the future; using the current time') : null;
  return { entry: { text, content: clamped, foreignSinceMs }, warning };
}

/** Sends those writes that may be sent as one merge-patch, and rejects the others. */
function send<W extends BucketWrite>(state: BucketState<W>, context: BucketContext): Transition<W> {
  const { known, failure, writing } = state;
  if (writing === null) return { state, effects: [] };
  if (known === null || failure !== null) {
    const message = failure?.message ?? `ConfigMap ${nameOf(context)} has not been read`;
    return endWriting({ ...state, writing }, { kind: 'failed', message });
  }
  const { accepted, answered, others } = chooseWrites(writing.writes, known.entries, context);
  const answers = answered.map((answer): BucketEffect<W> => ({ type: 'answer', ...answer }));
  if (accepted.length === 0) return { state: { ...state, writing: null }, effects: answers };
  const sent = new Map(state.sent);
  const changed = new Map(others);
  for (const { key, text } of accepted) changed.set(key, text);
  for (const [key, text] of changed) if (text !== null) sent.set(key, text);
  const data = Object.fromEntries(changed);
  return {
    state: { ...state, sent, writing: { ...writing, writes: accepted, others } },
    effects: [...answers, { type: 'patch', change: { resourceVersion: known.resourceVersion, data } }],
  };
}

function afterPatch<W extends BucketWrite>(state: BucketState<W>, resourceVersion: string): Transition<W> {
  const { known, writing } = state;
  if (known === null || writing === null) return { state, effects: [] };
  const entries = new Map(known.entries);
  const sent = new Map(state.sent);
  const changed = new Map(writing.others);
  for (const { key, text } of writing.writes) changed.set(key, text);
  for (const [key, text] of changed) {
    if (text !== null) entries.set(key, { text, content: readEntry(text), foreignSinceMs: null });
    else {
      entries.delete(key);
      sent.delete(key);
    }
  }
  return {
    state: {
      ...state,
      known: { ...known, resourceVersion, entries },
      sent,
      isDoubtful: false,
      writing: null,
    },
    effects: writing.writes.map((write) => ({
      type: 'answer',
      write,
      result: { kind: 'written', stored: write.text },
    })),
  };
}

function afterFailedPatch<W extends BucketWrite>(
  state: StateWriting<W>,
  error: KubernetesError,
  context: BucketContext,
): Transition<W> {
  if (error.kind === 'conflict') return afterConflict(state, context);
  const waitMs = rateLimitMs(error);
  if (waitMs !== null && context.nowMs + waitMs <= state.writing.endMs)
    return { state, effects: [{ type: 'wait', ms: waitMs }] };
  // The next read shows whether the write was made. The store becomes unusable only if the result is unknown twice in a
  // row.
  if (UNKNOWN_OUTCOME.includes(error.kind) && !state.isDoubtful) {
    const message = `${error.message}: the outcome is unknown, so the ConfigMap is read again`;
    return endWriting({ ...state, isDoubtful: true, isStale: true }, { kind: 'refused', message });
  }
  return failWriting(state, explainStateFailure(error, context, 'patch'), context);
}

function afterConflict<W extends BucketWrite>(state: StateWriting<W>, context: BucketContext): Transition<W> {
  const conflicts = state.writing.conflicts + 1;
  if (context.nowMs > state.writing.endMs) {
    // The store stays usable, because the process may have been suspended or the server may be slow.
    const message = `ConfigMap ${nameOf(context)} was not written within ${STATE_WRITE_MS / 1000} s`;
    return endWriting({ ...state, isStale: true }, { kind: 'refused', message });
  }
  if (conflicts === MAX_CONFLICTS) {
    const message = `other clients keep changing ConfigMap ${nameOf(context)}: ${conflicts} conflicts`;
    return failWriting(state, message, context);
  }
  return { state: { ...state, writing: { ...state.writing, conflicts } }, effects: [{ type: 'read' }] };
}

function endWriting<W extends BucketWrite>(state: StateWriting<W>, result: PutResult): Transition<W> {
  const effects = state.writing.writes.map((write): BucketEffect<W> => ({ type: 'answer', write, result }));
  return { state: { ...state, writing: null }, effects };
}

function failWriting<W extends BucketWrite>(
  state: StateWriting<W>,
  message: string,
  context: BucketContext,
): Transition<W> {
  const failed = fail(state, message, context);
  const ended = endWriting({ ...failed.state, writing: state.writing }, { kind: 'failed', message });
  return { state: ended.state, effects: [...failed.effects, ...ended.effects] };
}

function fail<W extends BucketWrite>(
  state: BucketState<W>,
  message: string,
  context: BucketContext,
): Transition<W> {
  const facts = { configMap: nameOf(context), problem: message };
  const warning: BucketEffect<W> = {
    type: 'log',
    level: 'warn',
    facts,
    message: 'failed to persist scaler state',
  };
  return {
    state: { ...state, failure: { message, atMs: context.nowMs } },
    effects: state.failure === null ? [warning] : [],
  };
}

function nameOf({ namespace, name }: BucketContext): string {
  return `${namespace}/${name}`;
}
