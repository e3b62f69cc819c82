import { describe, expect, it } from '@jest/globals';
import type { BucketWrite } from '../../../src/kubernetes/state/choose-writes.js';
import {
  isReadDue,
  UNREAD,
  type BucketContext,
  type BucketEffect,
  type BucketEvent,
  type BucketState,
  transition,
} from '../../../src/kubernetes/state/bucket-transition.js';
import { writeEntry } from '../../../src/kubernetes/state/state-entry.js';
import { KubernetesError, type KubernetesErrorKind } from '../../../src/kubernetes/api/types.js';
import { at } from '../../control/fixture.js';
import { stateOf } from './state-fixture.js';

type State = BucketState<BucketWrite>;
type Effect = BucketEffect<BucketWrite>;

const TEXT = writeEntry('1/a', stateOf());
const OTHER_TEXT = writeEntry('2/b', stateOf());
/** Of a scaler that was removed a day ago. */
const ABSENT_TEXT = '{"v":2,"epoch":"1/a","uid":"uid-1","absentSince":"2025-12-31T00:00:00Z"}';
const WRITE: BucketWrite = { key: 'shop.web', base: null, text: TEXT };

/**
 * Applies events one after the other, one millisecond apart; returns the last state and the effects of the last event.
 */
function run(
  events: readonly BucketEvent<BucketWrite>[],
  over: Partial<BucketContext> = {},
): { readonly state: State; readonly effects: readonly Effect[] } {
  let state: State = UNREAD;
  let effects: readonly Effect[] = [];
  events.forEach((event, index) => {
    ({ state, effects } = transition(state, event, { ...contextAt(index), ...over }));
  });
  return { state, effects };
}

function read(data: Readonly<Record<string, string>> = {}, isReload = false): BucketEvent<BucketWrite> {
  return { type: 'read', map: { resourceVersion: '7', createdAt: at(0), data }, isReload };
}

function write(...writes: readonly BucketWrite[]): BucketEvent<BucketWrite> {
  return { type: 'write', writes, endMs: 5000 };
}

function patchFailed(
  kind: KubernetesErrorKind,
  retryAfterSeconds: number | null = null,
): BucketEvent<BucketWrite> {
  return { type: 'patch-failed', error: new KubernetesError(kind, kind, { retryAfterSeconds }) };
}

const RETRY = { type: 'retry' } as const;

function answerOf(result: object): object {
  return { type: 'answer', write: WRITE, result };
}

describe('a write', () => {
  it('is one PATCH of the version that was read, and succeeds with it', () => {
    const sent = run([read({ 'shop.old': ABSENT_TEXT }), write(WRITE)], { isKnown: () => false });

    expect(sent.effects).toEqual([
      {
        type: 'patch',
        change: { resourceVersion: '7', data: { 'shop.old': null, 'shop.web': TEXT } },
      },
    ]);
    const done = transition(sent.state, { type: 'patched', resourceVersion: '8' }, contextAt(10));
    expect(done.effects).toEqual([answerOf({ kind: 'written', stored: TEXT })]);
    expect(done.state.writing).toBeNull();
    expect(done.state.known).toMatchObject({ resourceVersion: '8' });
    expect([...(done.state.known?.entries.keys() ?? [])]).toEqual(['shop.web']);
  });

  it('fails without a PATCH while the ConfigMap is unread or unusable', () => {
    const failed = { type: 'read-failed', error: new KubernetesError('timeout', 'no answer') } as const;

    expect(run([write(WRITE)]).effects).toEqual([
      answerOf({ kind: 'failed', message: 'ConfigMap ops/state-04 has not been read' }),
    ]);
    expect(run([failed, write(WRITE)]).effects).toEqual([answerOf({ kind: 'failed', message: 'no answer' })]);
  });

  it('is answered separately if another one of its batch can be sent', () => {
    const other = { key: 'shop.other', base: 'something else', text: TEXT };

    expect(run([read(), write(other, WRITE)]).effects).toMatchObject([
      { type: 'answer', write: other, result: { kind: 'refused' } },
      { type: 'patch', change: { data: { 'shop.web': TEXT } } },
    ]);
  });

  it('reads after a conflict, and is sent again with the new version', () => {
    const events = [read(), write(WRITE), patchFailed('conflict')];

    expect(run(events).effects).toEqual([{ type: 'read' }]);
    expect(run([...events, read({ 'shop.other': OTHER_TEXT }), RETRY]).effects).toMatchObject([
      { type: 'patch', change: { resourceVersion: '7', data: { 'shop.web': TEXT } } },
    ]);
  });

  it('fails at the fourth conflict, and the ConfigMap is unusable then', () => {
    const conflict = [patchFailed('conflict'), read(), RETRY];
    const { state, effects } = run([
      read(),
      write(WRITE),
      ...conflict,
      ...conflict,
      ...conflict,
      patchFailed('conflict'),
    ]);

    expect(effects).toMatchObject([{ type: 'log', level: 'warn' }, { result: { kind: 'failed' } }]);
    expect(state.failure?.message).toContain('4 conflicts');
  });

  it.each([
    [5000, 'read'],
    [5001, 'answer'],
  ])('that conflicts at %d ms ends in "%s": its end is at 5000 ms', (nowMs, type) => {
    const { effects } = run([read(), write(WRITE), patchFailed('conflict')], { nowMs });

    expect(effects.map((effect) => effect.type)).toEqual([type]);
  });

  it.each([
    [2000, [{ type: 'wait', ms: 3000 }]],
    [2001, [{ type: 'log' }, { type: 'answer', result: { kind: 'failed' } }]],
  ])('that is rate-limited for 3 s at %d ms waits if it can still end by 5000 ms', (nowMs, effects) => {
    expect(run([read(), write(WRITE), patchFailed('rate_limited', 3)], { nowMs }).effects).toMatchObject(
      effects,
    );
  });

  it('is not sent after a wait if another replica has become the leader by then', () => {
    const before = run([read(), write(WRITE), patchFailed('rate_limited', 1)]);

    const { effects } = transition(before.state, RETRY, { ...contextAt(1000), whyNoWrites: () => 'not now' });

    expect(effects).toMatchObject([answerOf({ kind: 'refused' })]);
  });

  it('without an answer is refused and requires a read; the second in a row fails', () => {
    const first = run([read(), write(WRITE), patchFailed('timeout')]);
    const second = run([
      read(),
      write(WRITE),
      patchFailed('timeout'),
      read(),
      write(WRITE),
      patchFailed('timeout'),
    ]);

    expect(first.effects).toMatchObject([answerOf({ kind: 'refused' })]);
    expect(first.state.failure).toBeNull();
    expect(isReadDue(first.state, null, () => 3)).toBe(true);
    expect(second.effects).toMatchObject([{ type: 'log' }, answerOf({ kind: 'failed' })]);
    expect(second.state.failure).not.toBeNull();
  });
});

describe('entries that were sent', () => {
  const done = { type: 'patched', resourceVersion: '8' } as const;

  it('are kept to recognize a lost write, until the entry is dropped', () => {
    const gone = { key: 'shop.gone', base: null, text: ABSENT_TEXT };
    const written = run([read(), write(WRITE, gone), done]);
    expect([...written.state.sent.keys()]).toEqual(['shop.web', 'shop.gone']);

    const next = write({ ...WRITE, base: TEXT, text: OTHER_TEXT });
    const isKnown = (key: string): boolean => key !== 'shop.gone';
    const spent = { ...contextAt(5), isKnown, now: at(86_400) };
    const sent = transition(written.state, next, spent);
    const dropped = transition(sent.state, done, contextAt(6));

    expect([...dropped.state.sent.keys()]).toEqual(['shop.web']);
  });

  it('are forgotten if another client has removed the entry', () => {
    expect(run([read(), write(WRITE), done, read()]).state.sent.size).toBe(0);
  });
});

describe('a read', () => {
  it('attributes an entry that changed since the last read to another writer, unless it is its own or a known one', () => {
    const foreign = run([read(), read({ 'shop.web': OTHER_TEXT })]);
    const own = run([read(), write(WRITE), patchFailed('timeout'), read({ 'shop.web': TEXT })]);
    const first = run([read({ 'shop.web': OTHER_TEXT })]);

    expect(foreign.state.known?.entries.get('shop.web')?.foreignSinceMs).toBe(1);
    expect(own.state.known?.entries.get('shop.web')?.foreignSinceMs).toBeNull();
    expect(first.state.known?.entries.get('shop.web')?.foreignSinceMs).toBeNull();
  });

  it('attributes no entry to another writer at a reload', () => {
    const { state } = run([read(), read({ 'shop.web': OTHER_TEXT }), read({ 'shop.web': OTHER_TEXT }, true)]);

    expect(state.known?.entries.get('shop.web')?.foreignSinceMs).toBeNull();
  });

  it('logs an invalid entry once, and is due again for it after 60 s', () => {
    const first = run([read({ 'shop.web': 'damaged' })]);
    const again = transition(first.state, read({ 'shop.web': 'damaged' }), contextAt(0));

    expect(first.effects).toMatchObject([{ type: 'log', level: 'warn', facts: { key: 'shop.web' } }]);
    expect(again.effects).toEqual([]);
    expect([59_999, 60_000].map((nowMs) => isReadDue(first.state, 'shop.web', () => nowMs))).toEqual([
      false,
      true,
    ]);
    expect(isReadDue(first.state, 'shop.other', () => 60_000)).toBe(false);
  });

  it('that failed is due again after 1 s, and logs only its first failure and its recovery', () => {
    const failed = { type: 'read-failed', error: new KubernetesError('timeout', 'no answer') } as const;
    const { state, effects } = run([failed]);

    expect(effects).toMatchObject([{ type: 'log', level: 'warn', facts: { problem: 'no answer' } }]);
    expect([999, 1000].map((nowMs) => isReadDue(state, null, () => nowMs))).toEqual([false, true]);
    expect(transition(state, failed, contextAt(1000)).effects).toEqual([]);
    expect(transition(state, read(), contextAt(1000))).toMatchObject({
      state: { failure: null },
      effects: [{ type: 'log', level: 'info' }],
    });
  });
});

function contextAt(nowMs: number): BucketContext {
  return {
    namespace: 'ops',
    name: 'state-04',
    now: at(0),
    nowMs,
    whyNoWrites: () => null,
    isWrittenByLaterTerm: () => false,
    isKnown: () => true,
  };
}
