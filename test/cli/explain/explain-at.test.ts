import { afterEach, describe, expect, it } from '@jest/globals';
import { parsePastTime } from '../../../src/cli/explain/explain-past.js';
import { createRecords, type Records } from '../../../src/telemetry/records.js';
import { createRecorder } from '../../../src/control/cycle/report.js';
import type { Recorder } from '../../../src/control/cycle/types.js';
import { createSnapshotArchive } from '../../../src/telemetry/snapshot-archive.js';
import { formatInstant, instantFromMs } from '../../../src/units/time.js';
import { ManualClock } from '../../support/manual-clock.js';
import { SILENT_LOG } from '../../../src/units/log.js';
import { condition, metricsOf, NO_OUTAGES } from '../../telemetry/record-builder.js';
import { runCli } from '../fake-io.js';
import type { Ran } from '../fake-io.js';
import { appOf, cpuSnapshot, listen, recordOf, scalerDocument } from '../live-service.js';
import type { Listening } from '../live-service.js';

let service: Listening | null = null;

afterEach(() => service?.close());

/** Starts a server with the records of a process. */
function startRecords(overrides: Partial<Records> = {}): {
  readonly records: Records;
  readonly recorder: Recorder;
} {
  const records = { ...createRecords(new ManualClock()), ...overrides };
  const metrics = metricsOf(records.ledger);
  return { records, recorder: createRecorder({ ...records, metrics, log: SILENT_LOG, outages: NO_OUTAGES }) };
}

const time = (minute: number, second = 0): string =>
  formatInstant(instantFromMs(Date.UTC(2026, 0, 1, 10, minute, second)));

/** Records no change from 10:00:00 to 10:09:45, a scale-up to 6 at 10:10:00, then a missing metric. */
function recordMorning(recorder: Recorder): void {
  for (let cycle = 0; cycle < 40; cycle += 1) {
    const now = time(0, 15 * cycle);
    recorder.add(
      recordOf(cpuSnapshot(cycle < 20 ? 58 : 61, { now, samples: sampleAt(now, cycle < 20 ? 58 : 61) })),
    );
  }
  const patched = { kind: 'patched', from: 4, to: 6, message: '' } as const;
  const rise = cpuSnapshot(83, { now: time(10), samples: sampleAt(time(10), 83) });
  recorder.add(recordOf(rise, { outcome: patched }));
  const lost = cpuSnapshot(0, { now: time(10, 15), samples: [{ error: 'no series', kind: 'missing' }] });
  recorder.add(recordOf(lost));
}

function sampleAt(at: string, percent: number): readonly object[] {
  const pods = ['a', 'b', 'c', 'd'].map((pod) => [pod, { app: percent / 100 }] as const);
  return [{ at, windowSeconds: 120, containers: Object.fromEntries(pods) }];
}

async function explainAt(
  at: string,
  { records }: { readonly records: Records },
  ...more: string[]
): Promise<Ran> {
  service = await listen(appOf(records.ledger, records));
  const clock = new ManualClock('2026-01-01T10:20:00Z');
  return runCli(['explain', 'shop/web', '--at', at, '--url', service.url, ...more], { clock });
}

describe('explain --at', () => {
  it('explains the scale-up at 10:10:00 as it was, whatever came later', async () => {
    const fixture = startRecords();
    recordMorning(fixture.recorder);

    const { exitCode, stdout, stderr } = await explainAt('10:10:05', fixture);

    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toContain('In effect at 2026-01-01T10:10:05Z: decided once, at 10:10:00\n');
    expect(stdout).toContain('shop/web  scaled up from 4 to 6  (Deployment web, bounds 2 to 10)\n');
    expect(stdout).toContain('decided at 2026-01-01T10:10:00Z: cpu is at 83 %');
    expect(stdout).toContain('83 % / 60 % = 1.3833, ceil(1.3833 x 4 ready pods) = 6\n');
    expect(stdout).toContain('Outcome: patched 4 -> 6\nLast scale-up: 10:10:00 (0s ago);');
  });

  it('prints since when and how often 40 equal cycles had the same result, and the value of cpu then', async () => {
    const fixture = startRecords();
    recordMorning(fixture.recorder);

    const { stdout } = await explainAt('10:02:31', fixture);

    expect(stdout).toContain(
      [
        'In effect at 2026-01-01T10:02:31Z: the same decision 40 times, from 10:00:00 to 10:09:45',
        'Metrics at that time: cpu 58 % (target 60 %)',
        'The lines below explain the last of these decisions, which is the only one with a snapshot',
        '',
        'shop/web  stays at 4',
      ].join('\n'),
    );
    expect(stdout).toContain('cpu (Resource): 61 % of the requests');
    expect(stdout).toContain('Last scale-up: none by this scaler; last scale-down: none by this scaler');
  });

  it('names only the metrics of that time after the document has got others', async () => {
    const fixture = startRecords();
    recordMorning(fixture.recorder);
    const metrics = [
      { external: { metric: { name: 'rps' }, query: 'sum(rps)', target: { averageValue: 20 } } },
    ];
    const later = {
      scaler: scalerDocument({ metrics }),
      now: time(10, 30),
      samples: [{ error: 'no series', kind: 'missing' }],
    };
    fixture.recorder.add(recordOf(cpuSnapshot(0, later)));

    const { stdout } = await explainAt('10:02:31', fixture);

    expect(stdout).not.toContain('rps');
    expect(stdout).toContain(
      'Metrics at that time: unknown, because the metrics of the document have changed since\n',
    );
    expect(stdout).toContain('cpu (Resource): 61 % of the requests');
  });

  it('knows the last change of the previous process if that was before the requested time', async () => {
    const fixture = startRecords();
    const last = {
      up: instantFromMs(Date.UTC(2026, 0, 1, 9, 58)),
      down: instantFromMs(Date.UTC(2026, 0, 1, 9, 30)),
    };
    for (const second of [0, 15])
      fixture.recorder.add(
        recordOf(cpuSnapshot(58, { now: time(0, second), samples: sampleAt(time(0, second), 58) }), {
          lastScales: last,
        }),
      );

    const { stdout } = await explainAt('10:00:20', fixture);

    expect(stdout).toContain('Last scale-up: 09:58:00 (2m15s ago); last scale-down: 09:30:00 (30m15s ago)');
  });

  it('prints the pause as the reason of its change', async () => {
    const fixture = startRecords();
    const rise = cpuSnapshot(83, { now: time(10), samples: sampleAt(time(10), 83) });
    const message = 'paused by annotation, kept at 3 (6 recommended)';
    fixture.recorder.add(recordOf(rise, { outcome: { kind: 'patched', from: 4, to: 3, message } }));

    const { stdout } = await explainAt('10:10:05', fixture);

    expect(stdout).toContain(
      'shop/web  scaled down from 4 to 3, not 6: the pause keeps 3 replicas  (Deployment web, bounds 2 to 10)\n',
    );
    expect(stdout).toContain(`decided at 2026-01-01T10:10:00Z: 4 -> 3: ${message}\n`);
    expect(stdout).toContain('\nwithout the pause: cpu is at 83 % of the requests, target 60 %: 4 -> 6\n');
  });

  it('prints the current decision for a time after the last cycle', async () => {
    const fixture = startRecords();
    recordMorning(fixture.recorder);

    const { stdout } = await explainAt('1s', fixture);

    expect(stdout).toContain('decided once, at 10:10:15\n');
    expect(stdout).toContain('answer  missing: no series');
  });

  it('prints the start of the recorded decisions for an earlier time', async () => {
    const fixture = startRecords();
    recordMorning(fixture.recorder);

    const { exitCode, stdout, stderr } = await explainAt('09:59:59', fixture);

    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toBe(
      'promscaler: no decision for shop/web at 2026-01-01T09:59:59Z: the first decision that the service retains in memory is from 2026-01-01T10:00:00Z\n',
    );
  });

  it('prints the decision if its snapshot has been dropped, and since when there are snapshots', async () => {
    const fixture = startRecords({ archive: createSnapshotArchive({ perScaler: 1 }) });
    recordMorning(fixture.recorder);

    const { exitCode, stdout } = await explainAt('10:05:00', fixture);

    expect(exitCode).toBe(0);
    expect(stdout).toContain('shop/web  stays at 4\ncpu is at 61 %');
    expect(stdout).toContain(
      'Metrics and pods are not available: the snapshot of 10:09:45 is no longer kept; snapshots are kept from 10:10:00 on\n',
    );
  });

  it('prints why nothing was decided while the target could not be read', async () => {
    const fixture = startRecords();
    const gone = condition({ status: 'False', reason: 'FailedGetScale', message: 'not found' });
    const unread = { snapshot: null, decision: null, conditions: [gone] };
    fixture.recorder.add(recordOf(cpuSnapshot(60, { now: time(0) }), unread));
    fixture.recorder.add(recordOf(cpuSnapshot(60, { now: time(1) })));

    const { stdout } = await explainAt('10:00:30', fixture);

    expect(stdout).toContain('shop/web  no decision: the target could not be read\n');
    expect(stdout).toContain('AbleToScale  False  FailedGetScale: not found\n');
  });

  it('prints entry, decision and snapshot as JSON', async () => {
    const fixture = startRecords();
    recordMorning(fixture.recorder);

    const { stdout } = await explainAt('2026-01-01T11:10:00+01:00', fixture, '-o', 'json');

    expect(JSON.parse(stdout)).toMatchObject({
      at: '2026-01-01T10:10:00Z',
      keptFrom: '2026-01-01T10:00:00Z',
      decision: { desiredReplicas: 6 },
      snapshot: { now: '2026-01-01T10:10:00Z' },
      missing: null,
      status: { count: 1, outcome: { kind: 'patched' } },
    });
  });

  it('reports a service whose answer is not that of the API', async () => {
    service = await listen((_request, response) => void response.end('{"items":[],"continue":null}'));

    const { exitCode, stderr } = await runCli(['explain', 'shop/web', '--at', '10m', '--url', service.url]);

    expect([exitCode, stderr]).toEqual([
      1,
      `promscaler: reading /api/v1/scalers/shop/web/decisions from ${service.url}: keptFrom: expected string, received undefined: the server is not promscaler, or has another version than this command\n`,
    ]);
  });

  it('suggests the nearest name for a scaler that does not exist', async () => {
    const { records, recorder } = startRecords();
    recordMorning(recorder);
    service = await listen(appOf(records.ledger, records));

    const { stderr } = await runCli(['explain', 'shop/wbe', '--at', '1s', '--url', service.url]);

    expect(stderr).toContain(
      'has no scaler shop/wbe, or the first cycle of the scaler has not finished; similar: shop/web',
    );
  });

  it('cannot be combined with --snapshot', async () => {
    const { exitCode, stderr } = await runCli(['explain', '--snapshot', '-', '--at', '10m']);

    expect([exitCode, stderr]).toEqual([
      2,
      'promscaler: --at cannot be combined with --snapshot, because --at reads from a running service\n',
    ]);
  });
});

describe('parsePastTime at 2026-01-01T10:20:00Z', () => {
  const now = instantFromMs(Date.UTC(2026, 0, 1, 10, 20));

  it.each([
    ['2026-01-01T10:20:00Z', '2026-01-01T10:20:00Z'],
    ['2025-12-31T23:00:00+01:00', '2025-12-31T22:00:00Z'],
    ['0s', '2026-01-01T10:20:00Z'],
    ['10m', '2026-01-01T10:10:00Z'],
    ['1h30m', '2026-01-01T08:50:00Z'],
    ['1d2h', '2025-12-31T08:20:00Z'],
  ])('%s is %s', (text, moment) => {
    expect(formatInstant(parsePastTime(text, now))).toBe(moment);
  });

  it.each([
    ['10:20', new Date(2026, 0, 1, 10, 20)],
    ['10:20:01', new Date(2025, 11, 31, 10, 20, 1)],
    ['9:05', new Date(2026, 0, 1, 9, 5)],
    ['Jan 1, 10:20:00', new Date(2026, 0, 1, 10, 20)],
    ['Jan 1, 10:20:01', new Date(2025, 0, 1, 10, 20, 1)],
    ['Dec 31, 23:59:40', new Date(2025, 11, 31, 23, 59, 40)],
    ['dec 31 23:59', new Date(2025, 11, 31, 23, 59)],
    ['Feb 29, 2024, 9:05:00', new Date(2024, 1, 29, 9, 5)],
  ])('%s is its last occurrence in local time, as all output shows it', (text, moment) => {
    const localNow = instantFromMs(new Date(2026, 0, 1, 10, 20).getTime());

    expect(parsePastTime(text, localNow)).toBe(moment.getTime());
  });

  it.each([
    '',
    'noon',
    '24:00',
    '10:60',
    '10',
    '-10m',
    '10m5h',
    '2026-01-01',
    '2026-02-30T00:00:00Z',
    'Dec 32, 10:20',
    'Foo 1, 10:20',
  ])('%j is not a time', (text) => {
    expect(() => parsePastTime(text, now)).toThrow(
      `--at is ${JSON.stringify(text)}, must be a time such as 2026-01-01T10:42:30Z, a local time such as 10:42:30 or "Nov 23, 10:42:30", or a duration`,
    );
  });

  it('rejects 2026-01-01T10:20:01Z, a second ahead', () => {
    expect(() => parsePastTime('2026-01-01T10:20:01Z', now)).toThrow(
      'is in the future: the current time is 2026-01-01T10:20:00Z',
    );
  });
});
