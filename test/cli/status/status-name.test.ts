import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import type { Generations } from '../../../src/decision/rejection.js';
import type { Problem } from '../../../src/scaler/problems/problem.js';
import { rejectionsOf } from '../../../src/telemetry/rejections.js';
import { problem } from '../../control/status/status-builder.js';
import { at } from '../../support/builders.js';
import { runCli } from '../fake-io.js';
import { appOf } from '../live-service.js';
import { CLOCK_AT_20_S, fourScalers, serve, serveApp } from './status-fixture.js';

describe('status NAME', () => {
  it.each([
    [['shop/web'], 'shop/web\n'],
    [['web', '-n', 'shop'], 'shop/web\n'],
    [['zoo', '-A'], 'animals/zoo\n'],
    [['web', 'api', '-n', 'shop'], 'shop/api\nshop/web\n'],
    [['shop/web', 'animals/zoo', 'shop/web'], 'animals/zoo\nshop/web\n'],
  ])('%j lists only these scalers', async (argv, names) => {
    const url = await serve(fourScalers());

    const { exitCode, stdout } = await runCli(['status', ...argv, '-o', 'name', ...url]);

    expect([exitCode, stdout]).toEqual([0, names]);
  });

  it('prints the row, and a list of one scaler as JSON', async () => {
    const url = await serve(fourScalers());

    const [text, json] = await Promise.all(
      ['text', 'json'].map((format) => runCli(['status', 'shop/api', '-o', format, ...url])),
    );

    expect(text?.stdout).toMatch(/^NAME .*\napi .*\n$/);
    expect(JSON.parse(json?.stdout ?? '')).toMatchObject({ items: [{ name: 'api' }] });
  });

  it('has a row Invalid with the cause for a document without a valid version, as kubectl get scalers has', async () => {
    const rejected = problem({
      code: 'replica-bounds',
      message: 'minReplicas is 0',
      file: 'scalers/0.yaml',
      place: { line: 4, column: 1 },
      path: 'spec.minReplicas',
      scaler: 'shop/never',
    });
    const ledger = fourScalers();
    ledger.setRejections(rejectionsOf([rejected]), at(9));
    const url = await serveApp(appOf(ledger, {}, { problems: () => [rejected] }));
    const run = (...argv: readonly string[]): ReturnType<typeof runCli> =>
      runCli(['status', ...argv, '--url', url], { clock: CLOCK_AT_20_S() });

    const { stdout } = await run('-o', 'wide');
    const other = await run('-n', 'other');
    const [named, json] = [await run('shop/never', '-o', 'wide'), await run('shop/never', '-o', 'json')];

    const row = /^(?:shop +)?never +<unknown> .* Invalid +11s +spec\.minReplicas: minReplicas is 0$/m;
    expect(stdout).toMatch(row);
    expect(other.stdout).not.toContain('never');
    expect(named).toMatchObject({
      exitCode: 0,
      stderr: 'promscaler: document rejected: scalers/0.yaml:4: minReplicas is 0\n',
    });
    expect(named.stdout).toMatch(row);
    const state = { name: 'Invalid', severity: 'cannot-follow', cause: 'spec.minReplicas: minReplicas is 0' };
    const item = { namespace: 'shop', name: 'never', state };
    expect(json).toMatchObject({ exitCode: 0, stderr: '' });
    expect(JSON.parse(json.stdout)).toMatchObject({ items: [item], problems: [{ scaler: 'shop/never' }] });
    expect((await run('-n', 'other', '-o', 'json')).stdout).not.toContain('"Invalid"');
    expect((await run('-o', 'name')).stdout).toContain('\nshop/never\n');
    expect(parse((await run('shop/never', '-o', 'yaml')).stdout)).toEqual(JSON.parse(json.stdout));
  });

  it('says which generation of a Scaler object the decision uses, if that is not the newest one', async () => {
    const newest = { generation: 4, newestGeneration: 5 };
    const rejected = problem({ message: 'minReplicas is 0', scaler: 'shop/web' });
    const causeOf = async (generations: Generations, problems: readonly Problem[] = []): Promise<string> => {
      const ledger = fourScalers();
      ledger.setRejections(rejectionsOf(problems), at(9));
      const app = appOf(ledger, {}, { generationsOf: () => generations });
      const { stdout } = await runCli(['status', 'shop/web', '--url', await serveApp(app)]);
      return /(?:OK|Rejected) +\S+ *(.*)$/m.exec(stdout)?.[1] ?? stdout;
    };

    expect(await causeOf(newest)).toMatch(/generation 4 is in effect, the newest is 5$/);
    expect(await causeOf(newest, [rejected])).toMatch(
      /: minReplicas is 0; generation 4 is in effect, the newest is 5$/,
    );
    expect(await causeOf({ generation: 4, newestGeneration: 4 })).not.toContain('generation');
    expect(await causeOf({ generation: null, newestGeneration: null }, [rejected])).not.toContain(
      'generation',
    );
  });

  it.each([
    [
      ['shop/wep'],
      'has no scaler shop/wep, or the first cycle of the scaler has not finished; similar: shop/web',
    ],
    [['deployment/web'], 'deployment/web names a workload'],
    [
      ['shop/nobody'],
      'has no scaler shop/nobody, or the first cycle of the scaler has not finished; scalers: shop/api, shop/dead, shop/web, ',
    ],
    [
      ['shop/web', 'shop/apo'],
      'has no scaler shop/apo, or the first cycle of the scaler has not finished; similar: shop/api',
    ],
    [['shop/sleeps'], 'if kubectl apply reported an error, the API server rejected the Scaler object'],
    [
      ['nobody', '-A'],
      'has no scaler nobody in any namespace, or the first cycle of the scaler has not finished; scalers: ',
    ],
  ])('%j fails and says why', async (argv, why) => {
    const url = await serve(fourScalers());

    const results = await Promise.all(
      ['text', 'json'].map((format) => runCli(['status', ...argv, '-o', format, ...url])),
    );

    expect(results.map(({ exitCode, stdout }) => [exitCode, stdout])).toEqual([
      [1, ''],
      [1, ''],
    ]);
    for (const { stderr } of results) expect(stderr).toContain(why);
  });
});
