import { spawnSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { CLI } from '../../e2e/service-process.js';
import { cpuSnapshot } from '../live-service.js';

/** Runs the program in a time zone. */
function explain(TZ: string, now: string, ...options: readonly string[]): string {
  const { stdout, stderr } = spawnSync(process.execPath, [CLI, 'explain', '--snapshot', '-', ...options], {
    env: { ...process.env, TZ },
    input: JSON.stringify({ ...cpuSnapshot(83), now }),
    encoding: 'utf8',
  });
  return stdout + stderr;
}

describe('the times of a command', () => {
  it.each([
    ['Europe/Warsaw', '2026-01-01T09:42:30Z', '2026-01-01T10:42:30+01:00'],
    ['Europe/Warsaw', '2026-07-01T23:42:30Z', '2026-07-02T01:42:30+02:00'],
    ['America/St_Johns', '2026-01-01T00:00:00Z', '2025-12-31T20:30:00-03:30'],
    ['UTC', '2026-01-01T09:42:30Z', '2026-01-01T09:42:30Z'],
  ])('are local with the offset of the zone: in %s, %s is %s', (zone, now, local) => {
    expect(explain(zone, now)).toContain(`decided at ${local}: `);
  });

  it('are in UTC in JSON', () => {
    const text = explain('Europe/Warsaw', '2026-01-01T09:42:30Z', '-o', 'json');

    expect(JSON.parse(text)).toMatchObject({ snapshot: { now: '2026-01-01T09:42:30Z' } });
    expect(text).not.toContain('+01:00');
  });
});
