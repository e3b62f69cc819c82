import { describe, expect, it } from '@jest/globals';
import { RecentMap } from '../../src/units/recent-map.js';
import { instantFromSeconds } from '../../src/units/time.js';

const at = instantFromSeconds;

describe('RecentMap', () => {
  it('keeps entries that are used, and forgets others after 60 to 120 s', () => {
    const map = new RecentMap<string, object>(60);
    const [used, unused] = [{}, {}];
    map.set('used', used, at(0));
    map.set('unused', unused, at(59.999));

    const seen = [60, 119.999, 120].map((now) => map.get('used', at(now)));

    expect(seen).toEqual([used, used, used]);
    expect(map.get('unused', at(120))).toBeUndefined();
    expect(map.get('used', at(121))).toBe(used);
  });

  it('keeps an entry that is first used again in the last moment', () => {
    const map = new RecentMap<string, object>(60);
    const value = {};
    map.set('x', value, at(0));
    map.get('y', at(60));

    expect(map.get('x', at(119.999))).toBe(value);
    expect(map.get('x', at(179.999))).toBe(value);
    expect(map.get('x', at(300))).toBe(value);
    expect(map.get('y', at(360))).toBeUndefined();
    expect(map.get('x', at(420))).toBeUndefined();
  });

  it('has the value that was set last', () => {
    const map = new RecentMap<string, object>(60);
    map.set('x', { before: true }, at(0));
    map.get('y', at(60));
    const value = {};
    map.set('x', value, at(61));

    expect(map.get('x', at(62))).toBe(value);
    expect(map.get('x', at(121))).toBe(value);
  });

  it('goes on forgetting after the clock was set back', () => {
    const map = new RecentMap<string, object>(60);
    map.set('x', {}, at(1_000_000));

    expect(map.get('y', at(0))).toBeUndefined();
    expect(map.get('y', at(60))).toBeUndefined();
    expect(map.get('x', at(61))).toBeUndefined();
  });
});
