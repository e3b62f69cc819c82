import { describe, expect, it } from '@jest/globals';
import {
  clampFuture,
  isSpent,
  MAX_ENTRY_BYTES,
  readEntry,
  storedMetricKey,
  writeEntry,
} from '../../../src/kubernetes/state/state-entry.js';
import type { MeasuredCapacity } from '../../../src/decision/snapshot/snapshot.js';
import type { Intent, StoredEntry, StoredState } from '../../../src/kubernetes/state/state-entry.js';
import { at } from '../../control/fixture.js';
import { stateOf } from './state-fixture.js';

const INTENT: Intent = {
  epoch: '3/pod-a',
  from: 5,
  to: 8,
  earlier: [9, 7],
  resourceVersion: '100',
  generation: 7,
  at: at(30),
};

function entry(over: Partial<StoredEntry> = {}): StoredEntry {
  return { epoch: '3/pod-a', absentSince: null, ...stateOf(), ...over };
}

describe('writeEntry', () => {
  it('omits unset values', () => {
    expect(writeEntry('3/pod-a', stateOf())).toBe('{"v":1,"epoch":"3/pod-a","uid":"uid-1"}');
  });

  it('writes every field in 300 bytes, and it is read back unchanged', () => {
    const full = stateOf({
      lastScaleUp: at(0),
      lastScaleDown: at(-60.25),
      scaleEvents: [
        { at: at(-60.25), change: -2 },
        { at: at(0), change: 3 },
      ],
      zeroedBySelf: true,
      intent: INTENT,
    });

    const text = writeEntry('4/pod-b', full);

    expect(text).toBe(
      '{"v":1,"epoch":"4/pod-b","uid":"uid-1","lastScaleUp":"2026-01-01T00:00:00Z",' +
        '"lastScaleDown":"2025-12-31T23:58:59.750Z",' +
        '"scaleEvents":[["2025-12-31T23:58:59.750Z",-2],["2026-01-01T00:00:00Z",3]],"zeroedBySelf":true,' +
        '"intent":{"epoch":"3/pod-a","from":5,"to":8,"earlier":[9,7],"resourceVersion":"100","generation":7,"at":"2026-01-01T00:00:30Z"}}',
    );
    expect(readEntry(text)).toEqual({ epoch: '4/pod-b', absentSince: null, ...full });
  });

  it('keeps the time since when each metric has failed', () => {
    const failingSince = new Map([
      ['External/queue depth', at(-30.5)],
      ['Resource/cpu', at(0)],
    ]);

    const text = writeEntry('1/a', stateOf({ failingSince }));

    expect(text).toBe(
      '{"v":1,"epoch":"1/a","uid":"uid-1","failingSince":' +
        '{"External/queue depth":"2025-12-31T23:59:29.500Z","Resource/cpu":"2026-01-01T00:00:00Z"}}',
    );
    expect(readEntry(text)).toEqual({ epoch: '1/a', absentSince: null, ...stateOf({ failingSince }) });
  });

  it('omits those times if the entry would be longer than 4096 bytes, and keeps the rest', () => {
    const failingSince = new Map([['Resource/cpu', at(0)]]);
    const bytesOf = (uid: string): number =>
      Buffer.byteLength(writeEntry('1/a', stateOf({ uid, failingSince })));
    const room = MAX_ENTRY_BYTES - bytesOf('');

    const fits = writeEntry('1/a', stateOf({ failingSince, uid: 'u'.repeat(room) }));
    const longer = writeEntry(
      '1/a',
      stateOf({ failingSince, uid: 'u'.repeat(room + 1), zeroedBySelf: true }),
    );

    expect(Buffer.byteLength(fits)).toBe(MAX_ENTRY_BYTES);
    expect(readEntry(fits)).toMatchObject({ failingSince });
    expect(readEntry(longer)).toMatchObject({ failingSince: new Map(), zeroedBySelf: true });
  });

  it('keeps 16 of 100 failing metrics with names of 253 characters in 1.6 KB, each with its own key', () => {
    const names = Array.from({ length: 100 }, (_, index) => `External/${'x'.repeat(250)}${index}`);
    const failingSince = new Map(names.map((name, index) => [name, at(index)]));

    const text = writeEntry('1/a', stateOf({ failingSince }));
    const read = readEntry(text);

    expect(text.length).toBeLessThan(1600);
    const first = names.slice(0, 16).map((name, index) => [storedMetricKey(name), at(index)] as const);
    expect(read).toMatchObject({ failingSince: new Map(first) });
    expect(new Set(names.map(storedMetricKey)).size).toBe(100);
  });

  it.each([
    ['x'.repeat(64), 'x'.repeat(64)],
    ['x'.repeat(65), `${'x'.repeat(47)}~9537c5fdf120482f`],
  ])('has for the metric %s the key %s', (name, key) => {
    expect(storedMetricKey(name)).toBe(key);
  });

  it('keeps an intent without a generation', () => {
    const intent = { ...INTENT, generation: null };

    expect(readEntry(writeEntry('1/a', stateOf({ intent })))).toMatchObject({ intent });
  });

  it('keeps 64 events unchanged', () => {
    const scaleEvents = Array.from({ length: 64 }, (_, index) => ({ at: at(index), change: 1 }));

    expect(readEntry(writeEntry('1/a', stateOf({ scaleEvents })))).toMatchObject({ scaleEvents });
  });

  it.each([65, 100, 1800])(
    'merges %d scale-ups and scale-downs: the sums are equal, and no time becomes earlier',
    (count) => {
      const scaleEvents = Array.from({ length: count }, (_, index) => ({
        at: at(index + 0.125),
        change: index % 3 === 0 ? -1 : 1,
      }));

      const text = writeEntry('1/a', stateOf({ scaleEvents, intent: INTENT }));
      const read = readEntry(text);

      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_ENTRY_BYTES);
      if ('problem' in read) throw new Error(read.problem);
      const sums = (events: StoredState['scaleEvents']): readonly number[] => [
        events.reduce((sum, { change }) => sum + Math.max(0, change), 0),
        events.reduce((sum, { change }) => sum + Math.min(0, change), 0),
      ];
      expect(sums(read.scaleEvents)).toEqual(sums(scaleEvents));
      expect(read.scaleEvents.length).toBeLessThanOrEqual(64);
      for (const second of [0, count / 3, count / 2, count - 2]) {
        const since = (events: StoredState['scaleEvents']): readonly number[] =>
          sums(events.filter((event) => event.at >= at(second)));
        const [up = 0, down = 0] = since(read.scaleEvents);
        const [trueUp = 0, trueDown = 0] = since(scaleEvents);
        expect(up).toBeGreaterThanOrEqual(trueUp);
        expect(down).toBeLessThanOrEqual(trueDown);
      }
      expect(read.scaleEvents.at(-1)?.at).toBe(scaleEvents.at(-1)?.at);
    },
  );
});

describe('readEntry', () => {
  it('reads an entry written before failing metrics were stored', () => {
    expect(readEntry('{"v":1,"epoch":"3/pod-a","uid":"uid-1"}')).toEqual(entry());
  });

  it.each([
    ['', 'not valid JSON'],
    ['{"v":1,"epoch":"1/a","uid":"u', 'not valid JSON'],
    [
      '{"v":8,"uid":"u","news":true}',
      'its schema version is 8, but this version of promscaler supports only 7',
    ],
    ['{"v":3,"epoch":"1/a","uid":"u","maxReplicasFrom":-1}', 'maxReplicasFrom is invalid'],
    ['null', 'entry is invalid'],
    ['{"uid":"u"}', 'v is invalid'],
    ['{"v":"1","epoch":"1/a","uid":"u"}', 'v is invalid'],
    ['{"v":1,"epoch":"1/a"}', 'uid is invalid'],
    ['{"v":1,"epoch":"1/a","uid":"u","paused":true}', 'entry is invalid'],
    ['{"v":1,"epoch":"1/a","uid":"u","lastScaleUp":"yesterday"}', 'lastScaleUp is invalid'],
    ['{"v":1,"epoch":"1/a","uid":"u","lastScaleUp":1767225600}', 'lastScaleUp is invalid'],
    [
      '{"v":1,"epoch":"1/a","uid":"u","scaleEvents":[["2026-01-01T00:00:00Z",0]]}',
      'scaleEvents.0.1 is invalid',
    ],
    [
      '{"v":1,"epoch":"1/a","uid":"u","scaleEvents":[["2026-01-01T00:00:00Z",1.5]]}',
      'scaleEvents.0.1 is invalid',
    ],
    ['{"v":1,"epoch":"1/a","uid":"u","intent":{"from":1}}', 'intent.epoch is invalid'],
    [
      '{"v":1,"epoch":"1/a","uid":"u","failingSince":{"External/load":"soon"}}',
      'failingSince.External/load is',
    ],
  ])('reports the problem of %s', (text, problem) => {
    const read = readEntry(text);

    expect('problem' in read ? read.problem : 'none').toContain(problem);
  });
});

describe('measured capacities', () => {
  const drift = { since: at(-3600), before: 10 / 3, oldestPod: null };
  const lower = { value: 2, low: 2.5, high: 10 / 3, days: 3, at: at(0), drift };
  const capacities = new Map<string, MeasuredCapacity>([
    ['a1', { value: 9.5, low: 8.8, high: 9.5, days: 3, at: at(0) }],
    ['b2', lower],
  ]);

  it('make an entry one of version 6, with 6 digits, and are read again', () => {
    const text = writeEntry('1/a', stateOf({ capacities }));

    expect(text).toContain('{"v":6,');
    expect(text).toContain('"a1":{"value":9.5,"low":8.8,"high":9.5,"days":3,"at":"2026-01-01T00:00:00Z"}');
    expect(text).toContain('"before":3.33333');
    expect(readEntry(text)).toMatchObject({
      capacities: new Map([
        ['a1', { value: 9.5, low: 8.8, high: 9.5, days: 3, at: at(0) }],
        ['b2', { ...lower, high: 3.33333, drift: { ...drift, before: 3.33333 } }],
      ]),
    });
  });

  it('are the first 8, and none in an entry that would be too long', () => {
    const many = new Map(Array.from({ length: 9 }, (_, index) => [`${index}`, lower]));
    const read = readEntry(writeEntry('1/a', stateOf({ capacities: many })));
    const uid = 'u'.repeat(MAX_ENTRY_BYTES - 200);
    const long = readEntry(writeEntry('1/a', stateOf({ capacities, uid, lastScaleUp: at(0) })));

    expect('problem' in read ? read : read.capacities?.size).toBe(8);
    expect(long).toMatchObject({ lastScaleUp: at(0) });
    expect(long).not.toHaveProperty('capacities');
  });

  it('of a clock that was ahead count as read now', () => {
    const entry: StoredEntry = { epoch: '1/a', absentSince: null, ...stateOf({ capacities }) };
    const moved = { ...drift, since: at(-7200) };

    expect(clampFuture(entry, at(-7200)).capacities).toEqual(
      new Map([
        ['a1', { ...capacities.get('a1'), at: at(-7200) }],
        ['b2', { ...lower, at: at(-7200), drift: moved }],
      ]),
    );
  });
});

describe('the schema version', () => {
  const moved = { at: at(0), change: -2, alsoAt: [at(-3600)] };

  it('is 1 if an earlier release can read the entry, and 2 with the other times of an event', () => {
    const made = { at: at(0), change: -2, alsoAt: [at(-4.9)] };

    expect(JSON.parse(writeEntry('1/a', stateOf({ scaleEvents: [made] })))).toEqual({
      v: 1,
      epoch: '1/a',
      uid: 'uid-1',
      scaleEvents: [['2026-01-01T00:00:00Z', -2]],
    });
    const text = writeEntry('1/a', stateOf({ scaleEvents: [moved] }));
    expect(text).toContain('"v":2');
    expect(readEntry(text)).toMatchObject({ scaleEvents: [moved] });
  });

  it('is 3 with the last value of maxReplicasFrom, also 0', () => {
    const text = writeEntry('1/a', stateOf({ maxReplicasFrom: 0 }));

    expect(text).toBe('{"v":3,"epoch":"1/a","uid":"uid-1","maxReplicasFrom":0}');
    expect(readEntry(text)).toMatchObject({ maxReplicasFrom: 0 });
  });

  it('is 1 again if 64 events with four other times each would exceed 4 KiB', () => {
    const alsoAt = [at(-1000), at(-2000), at(-3000), at(-4000)];
    const scaleEvents = Array.from({ length: 64 }, (_, index) => ({ at: at(index), change: 1, alsoAt }));

    const text = writeEntry('1/a', stateOf({ scaleEvents, failingSince: new Map([['External/a', at(0)]]) }));

    expect(text.length).toBeLessThanOrEqual(MAX_ENTRY_BYTES);
    expect(readEntry(text)).toMatchObject({ scaleEvents: scaleEvents.map(({ at }) => ({ at, change: 1 })) });
  });
});

describe('clampFuture', () => {
  it('keeps times up to 60 s ahead, as the same value', () => {
    const ahead = entry({ lastScaleUp: at(60), intent: { ...INTENT, at: at(60) } });

    expect(clampFuture(ahead, at(0))).toBe(ahead);
  });

  it('replaces each time that is 61 s ahead with now, and keeps the others', () => {
    const ahead = entry({
      lastScaleUp: at(61),
      lastScaleDown: at(60),
      scaleEvents: [
        { at: at(-5), change: 1 },
        { at: at(61), change: 2 },
      ],
      failingSince: new Map([
        ['External/a', at(60)],
        ['External/b', at(61)],
      ]),
      intent: { ...INTENT, at: at(3600) },
    });

    expect(clampFuture(ahead, at(0))).toEqual({
      ...ahead,
      lastScaleUp: at(0),
      scaleEvents: [
        { at: at(-5), change: 1 },
        { at: at(0), change: 2, alsoAt: [at(61)] },
      ],
      failingSince: new Map([
        ['External/a', at(60)],
        ['External/b', at(0)],
      ]),
      intent: { ...INTENT, at: at(0) },
    });
  });
});

describe('isSpent', () => {
  it.each([
    [86_400, false],
    [86_401, true],
  ])('is, for an entry whose last change is %d s old, %s', (seconds, isOver) => {
    expect(isSpent(entry({ lastScaleUp: at(0), lastScaleDown: at(-90_000) }), at(seconds))).toBe(isOver);
  });

  it.each([
    [86_430, false],
    [86_431, true],
  ])('is, for an intent of 30 s and a time of %d s, %s', (seconds, isOver) => {
    expect(isSpent(entry({ intent: INTENT }), at(seconds))).toBe(isOver);
  });
});
