import { describe, expect, it } from '@jest/globals';
import type { ForecastState } from '../../../src/decision/snapshot/snapshot.js';
import {
  clampFuture,
  MAX_ENTRY_BYTES,
  readEntry,
  type StoredEntry,
  writeEntry,
} from '../../../src/kubernetes/state/state-entry.js';
import { at } from '../../control/fixture.js';
import { stateOf } from './state-fixture.js';

const FORECAST: ForecastState = {
  at: at(15),
  minutes: [{ at: at(0), sum: 100, count: 2 }],
  reactive: {
    replicas: 7,
    lastScaleUp: at(0),
    lastScaleDown: null,
    scaleEvents: [{ at: at(0), change: 2 }],
  },
  proposals: [{ at: at(0), replicas: 9 }],
  spent: [{ from: at(0), reactive: 105.4, added: 30.2, short: 8, prevented: 4 }],
  raises: [],
};

describe('the forecast in a stored entry', () => {
  it('has the count without a forecast and what was spent, and makes the entry one of version 4', () => {
    const text = writeEntry('1/a', stateOf({ forecast: FORECAST }));

    expect(text).toBe(
      '{"v":4,"epoch":"1/a","uid":"uid-1","forecast":{"at":"2026-01-01T00:00:15Z","replicas":7,' +
        '"lastScaleUp":"2026-01-01T00:00:00Z","scaleEvents":[["2026-01-01T00:00:00Z",2]],"spent":[[81816,105,30,8,4]]}}',
    );
    expect(readEntry(text)).toMatchObject({
      forecast: {
        ...FORECAST,
        minutes: [],
        proposals: [],
        spent: [{ from: at(0), reactive: 105, added: 30, short: 8, prevented: 4 }],
      },
    });
  });

  it('is not in an entry of an earlier version, which is read', () => {
    const read = readEntry('{"v":3,"epoch":"1/a","uid":"uid-1","maxReplicasFrom":8}');

    expect(read).toMatchObject({ maxReplicasFrom: 8 });
    expect(read).not.toHaveProperty('forecast');
  });

  it('has the raises of the last days in an entry of version 5, which ends the one under way', () => {
    const raise = { from: at(60), until: at(240), added: 900.4, prevented: 90 };
    const text = writeEntry('1/a', stateOf({ forecast: { ...FORECAST, raises: [raise] } }));

    expect(text).toContain('{"v":5,');
    expect(text).toContain('"raises":[[29453761,900,90]]');
    expect(readEntry(text)).toMatchObject({
      forecast: { raises: [{ from: at(60), until: at(60), added: 900, prevented: 90 }] },
    });
  });

  it('has more than 48 raises in an entry of version 7, with pod-seconds within 5 %', () => {
    const raises = Array.from({ length: 336 }, (_, index) => {
      const from = at((index - 336) * 3600);
      return { from, until: from, added: (index * 1e6) / 7, prevented: index };
    });
    const forecast = { ...FORECAST, raises };
    const text = writeEntry('1/a', stateOf({ forecast }));

    expect(text).toContain('{"v":7,');
    const entry = readEntry(text);
    const read = 'problem' in entry ? [] : (entry.forecast?.raises ?? []);
    expect(read.map(({ from }) => from)).toEqual(raises.map(({ from }) => from));
    for (const [index, { added, prevented }] of read.entries()) {
      expect(Math.abs(added / ((index * 1e6) / 7 || 1) - 1)).toBeLessThanOrEqual(index === 0 ? 1 : 0.05);
      expect(Math.abs(prevented - index)).toBeLessThanOrEqual(Math.max(1, 0.05 * index));
    }
    // What was read is written without a further loss.
    expect(writeEntry('1/a', stateOf({ forecast: { ...forecast, raises: read } }))).toBe(text);
  });

  it('is in an entry of version 7 with capacities, too', () => {
    const raises = Array.from({ length: 49 }, () => ({ from: at(0), until: at(0), added: 1, prevented: 0 }));
    const capacity = { value: 1, low: 1, high: 1, days: 1, at: at(0) };
    const of = (count: number): string =>
      writeEntry(
        '1/a',
        stateOf({
          forecast: { ...FORECAST, raises: raises.slice(0, count) },
          capacities: new Map([['rps', capacity]]),
        }),
      );

    expect([of(48).slice(0, 7), of(49).slice(0, 7)]).toEqual(['{"v":6,', '{"v":7,']);
  });

  it('has at most 3,200 bytes', () => {
    const spent = Array.from({ length: 40 }, (_, part) => {
      const podSeconds = 1e9 / 3;
      const from = at((part - 40) * 21_600);
      return { from, reactive: podSeconds, added: podSeconds, short: podSeconds, prevented: podSeconds };
    });
    const scaleEvents = Array.from({ length: 200 }, (_, index) => ({ at: at(index + 0.125), change: -100 }));
    const reactive = { ...FORECAST.reactive, lastScaleDown: at(0.125), scaleEvents };
    const raises = Array.from({ length: 400 }, (_, index) => {
      const from = at((index - 400) * 3600);
      return { from, until: from, added: 1e9 / 3, prevented: 1e9 / 3 };
    });
    const text = writeEntry('1/a', stateOf({ forecast: { ...FORECAST, reactive, spent, raises } }));

    expect(Buffer.byteLength(text)).toBeLessThan(3250);
    const read = readEntry(text);
    expect('problem' in read ? [] : read.forecast?.spent.map(({ from }) => from)).toEqual(
      spent.slice(-12).map(({ from }) => from),
    );
  });

  it('loses its raises, and not its budget, in an entry that would be too long', () => {
    const uid = 'u'.repeat(MAX_ENTRY_BYTES - 1000);
    const raises = Array.from({ length: 48 }, (_, index) => {
      const from = at(index * 3600);
      return { from, until: from, added: 1e6, prevented: 1e6 };
    });
    const read = readEntry(writeEntry('1/a', stateOf({ uid, forecast: { ...FORECAST, raises } })));

    expect(read).toMatchObject({ forecast: { raises: [], spent: [{ added: 30 }] } });
  });

  it('is left out of an entry that would be too long, before the times of the changes', () => {
    const uid = 'u'.repeat(MAX_ENTRY_BYTES - 200);
    const read = readEntry(writeEntry('1/a', stateOf({ uid, forecast: FORECAST, lastScaleUp: at(0) })));

    expect(read).toMatchObject({ lastScaleUp: at(0) });
    expect(read).not.toHaveProperty('forecast');
  });

  it('of a clock that was ahead counts as now', () => {
    const entry: StoredEntry = { epoch: '1/a', absentSince: null, ...stateOf({ forecast: FORECAST }) };

    expect(clampFuture(entry, at(-600)).forecast).toMatchObject({
      at: at(-600),
      reactive: { replicas: 7, lastScaleUp: at(-600), scaleEvents: [{ at: at(-600), change: 2 }] },
    });
    expect(clampFuture(entry, at(0))).toBe(entry);
  });

  it.each([
    ['a count that is none', '"replicas":-1'],
    ['pod-seconds that are none', '"replicas":1,"spent":[[1,-1,0,0,0]]'],
    ['thirteen parts', `"replicas":1,"spent":[${Array.from({ length: 13 }, () => '[1,0,0,0,0]').join(',')}]`],
  ])('is invalid with %s', (_, fields) => {
    const text = `{"v":4,"epoch":"1/a","uid":"u","forecast":{"at":"2026-01-01T00:00:00Z",${fields}}}`;

    expect(readEntry(text)).toHaveProperty('problem');
  });
});
