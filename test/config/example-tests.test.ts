import { readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { runCli } from '../cli/fake-io.js';

interface JsonResult {
  readonly scaler: string;
  readonly passed: boolean;
}

describe('the tests of the examples', () => {
  it('pass', async () => {
    const { exitCode, stdout, stderr } = await runCli(['test', 'config/tests']);

    expect(stdout).not.toContain('FAIL');
    expect([exitCode, stderr]).toEqual([0, '']);
  });

  it('cover every example', async () => {
    const { stdout } = await runCli(['test', 'config/tests', '-o', 'json']);
    const { tests } = JSON.parse(stdout) as { readonly tests: readonly JsonResult[] };

    expect(new Set(tests.map(({ scaler }) => scaler)).size).toBe(readdirSync('config/scalers').length);
  });
});
