import { describe, expect, it } from '@jest/globals';
import { createDemoLog, type DemoLog, withLogFile } from '../../../src/cli/demo/demo-log.js';
import { createScalerFiles } from '../../../src/config/scaler-files.js';
import type { ReasonOf } from '../../../src/decision/result/condition.js';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import type { Pause } from '../../../src/decision/pause.js';
import type { CycleRecord } from '../../../src/telemetry/cycle-record.js';
import { createLog } from '../../../src/telemetry/log.js';
import { parseInstant } from '../../../src/units/time.js';
import { ManualClock } from '../../support/manual-clock.js';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folderOf } from '../fake-io.js';
import { cpuSnapshot, recordOf } from '../live-service.js';
import { shortScalerYaml } from '../../support/scaler-yaml.js';
import { conflictWith } from '../../telemetry/record-builder.js';

/** A log at 2026-01-01T00:00:00Z, and its output. */
function startLog(): { readonly log: DemoLog; readonly lines: () => readonly string[] } {
  let text = '';
  const stdout = { isTerminal: false, write: (chunk: string) => void (text += chunk) };
  const clock = new ManualClock('2026-01-01T00:00:00Z');
  const log = createDemoLog({ stdout, env: {}, clock, command: 'promscaler' });
  return { log, lines: () => text.split('\n').filter((line) => line !== '') };
}

function logCycle(log: DemoLog, record: CycleRecord): void {
  log.printCycle({ record, decidedState: null } as unknown as Parameters<DemoLog['printCycle']>[0]);
}

const PAUSE: Pause = {
  by: 'annotation',
  direction: 'both',
  until: null,
  replicas: null,
  annotated: { direction: 'both', until: null },
  notes: ['incident 7'],
};

describe('the log of a pause', () => {
  it('reports its start, its change and its end, once each', () => {
    const { log, lines } = startLog();
    const steady = cpuSnapshot(60);
    for (const pause of [
      null,
      PAUSE,
      PAUSE,
      { ...PAUSE, annotated: null, notes: ['scale-up is paused'] },
      null,
      null,
    ])
      logCycle(log, recordOf(steady, { pause }));

    expect(lines()).toEqual([
      '   +0 s  shop/web                   scaling is paused by annotation; incident 7',
      '   +0 s  shop/web                   scale-up is paused',
      '   +0 s  shop/web                   resumed',
    ]);
  });

  it('reports a pause that has already ended', () => {
    const { log, lines } = startLog();
    const until = parseInstant('2026-01-01T00:00:00Z');
    logCycle(log, recordOf(cpuSnapshot(60), { pause: { ...PAUSE, until } }));
    logCycle(log, recordOf(cpuSnapshot(60)));

    expect(lines()[1]).toContain('pause ended');
  });
});

describe('the log of a target', () => {
  it.each([
    ['AbleToScale', 'FailedGetScale'],
    ['ScalingActive', 'InvalidSelector'],
  ] as const)('that cannot be read is reported once, also with %s %s', (type, reason) => {
    const { log, lines } = startLog();
    const conditions = [{ type, status: 'False', reason, message: 'there is no such deployment' }] as const;
    for (let cycle = 0; cycle < 3; cycle += 1)
      logCycle(log, recordOf(cpuSnapshot(60), { decision: null, conditions }));

    expect(lines()).toEqual(['   +0 s  shop/web                   there is no such deployment']);
  });
});

describe('the log of a decision that is not applied', () => {
  const heldBy = (reason: ReasonOf<'Held'>, message: string): Partial<CycleRecord> => ({
    outcome: { kind: 'held', from: 4, to: 6, message },
    conditions: [{ type: 'Held', status: 'True', reason, message }],
  });

  it('reports a conflict once, and again after it had ended', () => {
    const { log, lines } = startLog();
    const conflict = heldBy('ConflictingScaler', 'Scaler shop/api scales the same target');
    for (const held of [conflict, conflict, {}, conflict]) logCycle(log, recordOf(cpuSnapshot(83), held));

    const line =
      '   +0 s  shop/web        = 4        ConflictingScaler: Scaler shop/api scales the same target';
    expect(lines()).toEqual([line, line]);
  });

  it.each([
    ['a dry run', heldBy('DryRun', 'spec.dryRun is true'), 'DryRun: spec.dryRun is true'],
    [
      'a failed PATCH',
      { outcome: { kind: 'failed', from: 4, to: 6, message: 'patching the scale: forbidden' } },
      'patching the scale: forbidden',
    ],
  ] as const)('reports %s', (_, record, text) => {
    const { log, lines } = startLog();

    logCycle(log, recordOf(cpuSnapshot(83), record));

    expect(lines()).toEqual([expect.stringMatching(new RegExp(` ${text}$`))]);
  });

  it('reports another writer once, not again after each change that promscaler makes', () => {
    const { log, lines } = startLog();
    const conflictingWriter = conflictWith([], 'kubectl reverts it');
    const scaled = { outcome: { kind: 'patched', from: 4, to: 6, message: '' }, conflictingWriter } as const;

    for (const record of [{ conflictingWriter }, scaled, { conflictingWriter }, {}, { conflictingWriter }])
      logCycle(log, recordOf(cpuSnapshot(83), record));

    const writers = lines().filter((line) => line.includes('ConflictingWriter: kubectl reverts it'));
    expect(writers).toHaveLength(2);
  });
});

describe('the log of documents', () => {
  const WEB = shortScalerYaml('web', 5);
  const API = WEB.replaceAll('name: web', 'name: api');

  /** Returns a directory of documents, and the log of each `load` without times and the spaces of columns. */
  function followDocuments(documents: Readonly<Record<string, string>>) {
    const directory = folderOf(documents);
    const files = createScalerFiles({ paths: [directory], clock: SYSTEM_CLOCK });
    const { log, lines } = startLog();
    return {
      write: (name: string, text: string): void => writeFileSync(join(directory, name), text),
      remove: (name: string): void => rmSync(join(directory, name)),
      load: async (): Promise<void> => log.printDocuments(await files.load()),
      lines: () => lines().map((line) => line.slice(9).replace(/ {2,}/, ': ')),
    };
  }

  it('reports one that changes, becomes invalid, is fixed, is added and is removed', async () => {
    const { write, remove, load, lines } = followDocuments({ 'web.yaml': WEB });
    const steps: readonly (() => void)[] = [
      () => undefined,
      () => undefined,
      () => write('web.yaml', WEB.replace('5', '6')),
      () => write('web.yaml', WEB.replace('5', 'five')),
      () => write('web.yaml', WEB.replace('5', 'six')),
      () => write('web.yaml', WEB.replace('5', '6')),
      () => write('api.yaml', API),
      () => remove('web.yaml'),
    ];

    for (const step of steps) {
      step();
      await load();
    }

    expect(lines()).toEqual([
      'shop/web: document changed',
      'web.yaml: document rejected, the last valid version remains in effect: line 4: spec.maxReplicas is "five", must be an integer',
      'web.yaml: document rejected, the last valid version remains in effect: line 4: spec.maxReplicas is "six", must be an integer',
      'web.yaml: document is valid again',
      'shop/api: document added',
      'shop/web: document deleted: the replicas stay as they are',
    ]);
  });

  it('reports a file once that is deleted while it is invalid and its last valid version is in effect', async () => {
    const { write, remove, load, lines } = followDocuments({ 'web.yaml': WEB, 'api.yaml': API });
    await load();
    write('web.yaml', WEB.replace('5', 'five'));
    await load();

    remove('web.yaml');
    await load();

    expect(lines().slice(1)).toEqual(['shop/web: document deleted: the replicas stay as they are']);
  });

  it.each([
    ['never valid', WEB.replace('5', 'five'), ['web.yaml: rejected document deleted']],
    ['of no readable name', 'kind: [', ['web.yaml: document is no longer rejected']],
  ])('does not call a deleted document valid: %s', async (_, text, expected) => {
    const { remove, load, lines } = followDocuments({ 'web.yaml': text, 'api.yaml': API });
    await load();

    remove('web.yaml');
    await load();

    expect(lines().slice(1)).toEqual(expected);
  });

  it('does not call a deleted file valid whose name another file has', async () => {
    const { remove, load, lines } = followDocuments({
      'web.yaml': WEB,
      'copy.yaml': WEB.replace('5', 'five'),
    });
    await load();

    remove('copy.yaml');
    await load();

    expect(lines().slice(1)).toEqual([
      'copy.yaml: document is no longer rejected',
      'shop/web: document added',
    ]);
  });

  it('calls the one of two files with one name valid that is left in the same reload', async () => {
    const { write, remove, load, lines } = followDocuments({ 'web.yaml': WEB.replace('5', 'five') });
    await load();

    remove('web.yaml');
    write('other.yaml', WEB);
    await load();
    write('web.yaml', WEB);
    await load();
    remove('other.yaml');
    await load();

    expect(lines().slice(1)).toEqual([
      'web.yaml: document is no longer rejected',
      'shop/web: document added',
      expect.stringMatching(
        /^other.yaml: document rejected, the last valid version .* is also in .*web.yaml/,
      ),
      'other.yaml: document is no longer rejected',
    ]);
  });

  it('reports the errors of two files with one name in two directories', async () => {
    const broken = WEB.replace('5', 'five');
    const root = folderOf({ 'a/web.yaml': broken, 'b/web.yaml': broken.replaceAll('web', 'api') });
    const files = createScalerFiles({ paths: [join(root, 'a'), join(root, 'b')], clock: SYSTEM_CLOCK });
    const { log, lines } = startLog();

    log.printDocuments(await files.load());

    expect(lines().filter((line) => line.includes('web.yaml'))).toHaveLength(2);
  });

  it('says that nothing is in effect of one that was never valid', async () => {
    const { load, lines } = followDocuments({ 'web.yaml': WEB.replace('5', 'five') });

    await load();

    expect(lines()[0]).toContain('document rejected, no valid version is in effect: line 4: ');
  });
});

it('writes the log of the service to a file, and prints its errors and what is no log line', () => {
  const file = join(folderOf({}), 'promscaler.log');
  let printed = '';
  const stream = withLogFile({ isTerminal: false, write: (text) => void (printed += text) }, file);
  const log = createLog({ stream, level: 'info', format: 'text', clock: new ManualClock() });

  log.info('replicas changed', { scaler: 'shop/checkout' });
  log.error('document rejected', { file: 'mailer.yaml' });
  log.error('round failed');
  stream.write('promscaler: interrupted\n');

  const at = '2026-01-01T00:00:00Z';
  const [changed, rejected, failed] = [
    `${at} INFO  replicas changed scaler=shop/checkout\n`,
    `${at} ERROR document rejected file=mailer.yaml\n`,
    `${at} ERROR round failed\n`,
  ];
  expect(readFileSync(file, 'utf8')).toBe(`${changed}${rejected}${failed}`);
  expect(printed).toBe(`${failed}promscaler: interrupted\n`);
});
