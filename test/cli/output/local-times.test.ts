import { spawnSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { shortTimes } from '../../../src/cli/output/lines.js';
import { CLI } from '../../e2e/service-process.js';
import { cpuSnapshot } from '../live-service.js';

/** Runs the program in a time zone. */
function explain(TZ: string, now: string, ...options: readonly string[]): string {
  const { stdout, stderr } = spawnSync(process.execPath, [CLI, 'explain', '--snapshot', '-', ...options], {
    env: { ...process.env, TZ },
    input: JSON.stringify({ ...cpuSnapshot(83), now, state: { lastScaleUp: now } }),
    encoding: 'utf8',
  });
  return stdout + stderr;
}

describe('the times of explain', () => {
  it.each([
    ['Europe/Warsaw', '2020-01-01T09:42:30Z', '2020-01-01T10:42:30+01:00', 'Jan 1, 2020, 10:42:30'],
    ['Europe/Warsaw', '2020-07-01T23:42:30Z', '2020-07-02T01:42:30+02:00', 'Jul 2, 2020, 01:42:30'],
    ['America/St_Johns', '2020-01-01T00:00:00Z', '2019-12-31T20:30:00-03:30', 'Dec 31, 2019, 20:30:00'],
    ['UTC', '2020-01-01T09:42:30Z', '2020-01-01T09:42:30Z', 'Jan 1, 2020, 09:42:30'],
  ])('are short, but for that of the decision: in %s, %s is %s', (zone, now, exact, short) => {
    const text = explain(zone, now);

    expect(text).toContain(`decided at ${exact}: `);
    expect(text).toContain(`Last scale-up: ${short} (0s ago)`);
    expect(text.split(exact)).toHaveLength(2);
  });

  it('are in UTC in JSON', () => {
    const text = explain('Europe/Warsaw', '2026-01-01T09:42:30Z', '-o', 'json');

    expect(JSON.parse(text)).toMatchObject({ snapshot: { now: '2026-01-01T09:42:30Z' } });
    expect(text).not.toContain('+01:00');
  });
});

describe('shortTimes', () => {
  const now = Date.parse('2026-01-10T12:00:00Z');

  it.each([
    ['2026-01-10T00:00:00Z', '00:00:00'],
    ['2026-01-09T23:59:59.500Z', 'Jan 9, 23:59:59'],
    ['2025-12-31T10:42:30Z', 'Dec 31, 10:42:30'],
    // Half a year, in which a date without a year names one day only.
    ['2025-07-14T12:00:00Z', 'Jul 14, 12:00:00'],
    ['2025-07-14T11:59:59Z', 'Jul 14, 2025, 11:59:59'],
    ['2026-07-09T12:00:00Z', 'Jul 9, 12:00:00'],
    ['2026-07-09T12:00:01Z', 'Jul 9, 2026, 12:00:01'],
  ])('on 2026-01-10, %s is %s', (time, short) => {
    expect(shortTimes(`since ${time}, it`, now)).toBe(`since ${short}, it`);
  });
});
