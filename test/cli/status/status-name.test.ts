import { describe, expect, it } from '@jest/globals';
import { runCli } from '../fake-io.js';
import { fourScalers, serve } from './status-fixture.js';

describe('status NAME', () => {
  it.each([
    [['shop/web'], 'shop/web\n'],
    [['web', '-n', 'shop'], 'shop/web\n'],
    [['zoo', '-A'], 'animals/zoo\n'],
  ])('%j lists only this scaler', async (argv, names) => {
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

  it.each([
    [['shop/wep'], 'has no scaler shop/wep, or its first cycle has not finished; similar: shop/web'],
    [['deployment/web'], 'deployment/web names a workload'],
    [
      ['shop/nobody'],
      'has no scaler shop/nobody, or its first cycle has not finished; scalers: shop/api, shop/dead, shop/web, ',
    ],
    [
      ['nobody', '-A'],
      'has no scaler nobody in any namespace, or its first cycle has not finished; scalers: ',
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
