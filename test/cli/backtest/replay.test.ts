import { describe, expect, it } from '@jest/globals';
import { VERSION } from '../../../src/cli/output/version.js';
import { decide } from '../../../src/decision/decide.js';
import { parseSnapshot } from '../../../src/decision/snapshot/parse-snapshot.js';
import { formatRecordLine } from '../../../src/recording/record-line.js';
import { formatInstant } from '../../../src/units/time.js';
import { at } from '../../support/builders.js';
import { record } from '../../telemetry/record-builder.js';
import { folderOf, runCli } from '../fake-io.js';
import type { Ran } from '../fake-io.js';
import { cpuSnapshot } from '../live-service.js';

/** The line of a decision at 4 replicas with this cpu usage, as the service writes it. */
function lineOf(percent: number, second: number, version = VERSION): string {
  const snapshot = parseSnapshot(cpuSnapshot(percent, { now: formatInstant(at(second)) }));
  const decision = decide(snapshot);
  const { currentReplicas: from, desiredReplicas: to } = decision;
  const outcome = { kind: from === to ? 'none' : 'patched', from, to, message: '' } as const;
  return formatRecordLine(
    record({ scaler: snapshot.scaler, at: snapshot.now, snapshot, decision, outcome }),
    version,
  );
}

const RISE = lineOf(90, 0);
const STAY = lineOf(60, 15);

/** What would color a terminal. */
const RED = '\u001b[31m';
/** What some terminals read as ESC [. */
const C1 = '\u009b';
// eslint-disable-next-line no-control-regex -- these characters must be absent
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/;

function run(lines: readonly string[], ...argv: readonly string[]): Promise<Ran> {
  return runCli(argv, { cwd: folderOf({ 'record.ndjson': `${lines.join('\n')}\n` }) });
}

const replay = (lines: readonly string[], ...more: readonly string[]): Promise<Ran> =>
  run(lines, 'backtest', '--replay', 'record.ndjson', ...more);

describe('backtest --replay', () => {
  it('finds no difference in 2 decisions of this version', async () => {
    const { exitCode, stdout, stderr } = await replay([RISE, STAY]);

    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toBe(
      `2 decisions of 1 scaler, from 2026-01-01T00:00:00Z to 2026-01-01T00:00:15Z\nrecorded by ${VERSION}, replayed by ${VERSION}\nno difference\n`,
    );
  });

  it('lists scaler, time, field, then and now of a version that decided on 9 instead of 6', async () => {
    const other = lineOf(90, 0, '0.0.9').replace('"desiredReplicas":6', '"desiredReplicas":9');

    const { exitCode, stdout } = await replay([other, STAY]);

    expect(exitCode).toBe(1);
    expect(stdout).toContain('differences in 1 of 2 decisions');
    expect(stdout).toMatch(/shop\/web +2026-01-01T00:00:00Z +desiredReplicas +9 +6\n/);
  });

  it('lists a limit that only this version applies, as JSON', async () => {
    const json = JSON.parse(lineOf(500, 0, '0.0.9')) as { decision: { limits: unknown[] } };
    const [limit] = json.decision.limits.splice(0, 1);

    const { exitCode, stdout } = await replay([JSON.stringify(json)], '-o', 'json');

    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      decisions: 1,
      different: 1,
      recordedBy: ['0.0.9'],
      differences: [
        { scaler: 'shop/web', line: 1, field: 'limits[0]', version: '0.0.9', then: null, now: limit },
      ],
    });
  });

  it.each([
    ['0.0.9', 0, '1 decision with differences only in the wording of messages'],
    [VERSION, 1, 'differences in 1 of 1 decision'],
  ])('counts another wording of version %s: exit code %d', async (version, code, text) => {
    const line = lineOf(90, 0, version).replaceAll(/: 4 -> 6/g, ': from 4 to 6');

    const { exitCode, stdout } = await replay([line]);

    expect([exitCode, stdout]).toEqual([code, expect.stringContaining(text)]);
  });

  it('names a line that was cut off, and replays the others', async () => {
    const { exitCode, stdout, stderr } = await replay([RISE, STAY.slice(0, 200), STAY]);

    expect([exitCode, stdout]).toEqual([1, expect.stringContaining('2 decisions')]);
    expect(stderr).toContain('record.ndjson:2: error: the line is not JSON');
  });

  it('names an empty file, and replays the two others', async () => {
    const cwd = folderOf({ 'a.ndjson': `${RISE}\n`, 'none.ndjson': ' \n', 'b.ndjson': `${STAY}\n` });
    const files = ['a', 'none', 'b'].flatMap((name) => ['--replay', `${name}.ndjson`]);

    const text = await runCli(['backtest', ...files], { cwd });
    const json = await runCli(['backtest', ...files, '-o', 'json'], { cwd });

    expect([text.exitCode, text.stderr]).toEqual([
      1,
      'none.ndjson: error: the file is empty, must be a decision record\n',
    ]);
    expect(text.stdout).toContain('2 decisions of 1 scaler');
    expect(text.stdout).toContain('no difference\n1 file without a line; see the errors\n');
    expect([json.exitCode, JSON.parse(json.stdout)]).toMatchObject([
      1,
      { emptyFiles: 1, problems: [{ file: 'none.ndjson', line: null }] },
    ]);
  });

  it('fails without a report if both files are empty', async () => {
    const cwd = folderOf({ 'a.ndjson': '', 'b.ndjson': '\n' });

    const { exitCode, stdout, stderr } = await runCli(
      ['backtest', '--replay', 'a.ndjson', '--replay', 'b.ndjson'],
      { cwd },
    );

    expect([exitCode, stdout, stderr]).toEqual([
      1,
      '',
      expect.stringContaining('a.ndjson, b.ndjson are empty, must be a decision record'),
    ]);
  });

  it.each(['text', 'markdown'])('replaces control characters of the record (%s)', async (format) => {
    const other = lineOf(90, 0, `0.0.9${RED}`)
      .replace('"shop/web"', JSON.stringify(`shop/web${RED}`))
      .replace('"desiredReplicas":6', `"desiredReplicas":"${C1}9"`);
    const invalid = RISE.replace('"snapshot":{', `"snapshot":{"${C1}a":1,`);

    const { stdout, stderr } = await replay([other, invalid], '-o', format);

    expect(stdout).toContain('shop/web\ufffd[31m');
    expect(stdout).toContain('recorded by 0.0.9\ufffd[31m');
    expect(stdout).toContain('"\ufffd9"');
    expect(stderr).toContain('\ufffda');
    expect(stdout + stderr).not.toMatch(CONTROL);
  });

  it('does not say that nothing differs if no line could be read', async () => {
    const { exitCode, stdout } = await run(['{"format":2}'], 'backtest', '--replay', 'record.ndjson');

    expect([exitCode, stdout]).toEqual([
      1,
      `0 decisions of 0 scalers\nrecorded by no version, replayed by ${VERSION}\nnothing was compared\n1 line not replayed; see the errors\n`,
    ]);
  });

  it.each([
    [
      ['--replay', 'record.ndjson', '--scaler', 'x'],
      2,
      '--replay repeats the decisions of recorded snapshots and uses no load: remove --scaler',
    ],
    [['--replay', 'missing.ndjson'], 1, 'reading missing.ndjson: no such file'],
    [['--replay', '-'], 1, '- is empty'],
    [['--capacity', '1', '--trace', 'x'], 2, 'backtest needs --scaler or --replay'],
  ])('rejects %j', async (argv, code, message) => {
    const { exitCode, stderr } = await run([RISE], 'backtest', ...argv);

    expect([exitCode, stderr]).toEqual([code, expect.stringContaining(message)]);
  });
});

describe('explain --file', () => {
  it('explains the last decision, or the one at a time', async () => {
    const last = await run([RISE, STAY], 'explain', '--file', 'record.ndjson');
    const rise = await run(
      [RISE, STAY],
      'explain',
      '--file',
      'record.ndjson',
      '--at',
      '2026-01-01T00:00:14Z',
    );

    expect([last.exitCode, rise.exitCode]).toEqual([0, 0]);
    expect(last.stdout).toContain('60 % / 60 % = 1');
    expect(rise.stdout).toContain('90 % / 60 % = 1.5');
  });

  it('notes that another version decided otherwise', async () => {
    const other = lineOf(90, 0, '0.0.9').replace('"desiredReplicas":6', '"desiredReplicas":9');

    const { stdout } = await run([other], 'explain', 'web', '--file', 'record.ndjson');

    expect(stdout).toContain(
      `Note: the desired replicas were 9 in version 0.0.9, and are 6 in this version (${VERSION})`,
    );
  });

  it('replaces control characters of the record', async () => {
    const text = RISE.replace('"reason":"', JSON.stringify(RED).replace('"', '"reason":"').slice(0, -1));
    const invalid = RISE.replace('"snapshot":{', `"snapshot":{"${C1}a":1,`);
    const several = [RISE, RISE.replace('"shop/web"', JSON.stringify(`shop/${RED}api`))];
    const unread = RISE.replace(/"decision":.*$/, '"conditions":[MESSAGE],"snapshot":null}').replace(
      'MESSAGE',
      JSON.stringify({
        type: 'ScalingActive',
        status: 'False',
        reason: 'InvalidSelector',
        message: `no ${RED}`,
      }),
    );

    const explained = await Promise.all(
      [[text], [invalid], several, [unread]].map((lines) => run(lines, 'explain', '--file', 'record.ndjson')),
    );

    const printed = explained.map(({ stdout, stderr }) => stdout + stderr);
    expect(printed).toEqual(printed.map(() => expect.stringContaining('\ufffd')));
    expect(printed.join('')).not.toMatch(CONTROL);
  });

  it.each([
    [[STAY], 'promscaler: the snapshot is invalid'],
    [[RISE, '', STAY], 'promscaler: the snapshot in line 3 of record.ndjson is invalid'],
  ])('names the line of an invalid snapshot if there are several', async (lines, message) => {
    const last = lines.map((line) => line.replace(/"snapshot":\{(?=.*00:00:15)/, '"snapshot":{"a":1,'));

    const { exitCode, stderr } = await run(last, 'explain', '--file', 'record.ndjson');

    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(message)]);
  });

  it('names the line that has no outcome', async () => {
    const incomplete = STAY.replace('"outcome":', '"result":');

    const { exitCode, stderr } = await run([RISE, incomplete], 'explain', '--file', 'record.ndjson');

    expect([exitCode, stderr]).toEqual([
      1,
      'promscaler: record.ndjson:2: outcome: expected object, received undefined\n',
    ]);
  });

  it('asks for a scaler if the file has several', async () => {
    const other = RISE.replace('"scaler":"shop/web"', '"scaler":"shop/api"');

    const { exitCode, stderr } = await run([RISE, other], 'explain', '--file', 'record.ndjson');

    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('shop/web, shop/api')]);
  });

  it.each([
    [['--at', '2025-12-31T23:59:59Z'], 1, 'the first decision of record.ndjson is from 2026-01-01T00:00:00Z'],
    [['--snapshot', 'x'], 2, '--file cannot be combined with --snapshot'],
    [['shop/api'], 1, 'record.ndjson has no decision of shop/api'],
  ])('rejects %j', async (argv, code, message) => {
    const { exitCode, stderr } = await run([RISE], 'explain', '--file', 'record.ndjson', ...argv);

    expect([exitCode, stderr]).toEqual([code, expect.stringContaining(message)]);
  });
});
