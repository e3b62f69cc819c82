import { describe, expect, it } from '@jest/globals';
import { createLedger, type Ledger } from '../../../src/telemetry/ledger.js';
import type { Recommendation } from '../../../src/telemetry/recommendation.js';
import { aRecommendation } from '../../telemetry/a-recommendation.js';
import { runCli } from '../fake-io.js';
import { appOf, cpuSnapshot, recordOf } from '../live-service.js';
import { fourScalers, serve, serveApp } from './status-fixture.js';

const NOTHING = { changes: [], patch: null, saving: null, thetaU: null };
const OPTIONS =
  "--config promscaler.yaml --from 2025-12-25T00:00:00Z --to 2026-01-01T00:00:00Z --step 30s --recommend 'theta_U<=document'";

/** Two scalers with these recommendations, and one without. */
function ledgerOf(web: Recommendation, api: Recommendation): Ledger {
  const ledger = createLedger();
  for (const [name, recommendation] of [
    ['api', api],
    ['web', web],
    ['young', null],
  ] as const) {
    const record = recordOf(cpuSnapshot(60, { name }));
    ledger.add(record);
    if (recommendation !== null) ledger.keepRecommendation(record.scaler, recommendation);
  }
  return ledger;
}

const tested = (): Ledger =>
  ledgerOf(aRecommendation(), aRecommendation({ ...NOTHING, reason: 'the history of 9h is too short' }));

describe('status --recommendations', () => {
  it('prints the change, its risk, its evidence and the commands, and why another document has none', async () => {
    const url = await serve(tested());

    const { exitCode, stdout } = await runCli(['status', '--recommendations', ...url]);

    expect(exitCode).toBe(0);
    expect(stdout.split('\n')).toEqual([
      'shop/web: expect 12.5 % fewer pod-hours',
      '  spec.metrics[0].resource.target.averageUtilization: 60 -> 70',
      '  spec.tolerance: (unset) -> 0.05',
      '  risk: theta_U (missing pods) 0.010 % -> 0.012 % in the parts of the history that are used to score the change',
      '  evidence: the history from 2025-12-25T00:00:00Z to 2026-01-01T00:00:00Z, back-tested at 2026-01-01T00:00:00Z',
      '  apply: set these fields in the file of shop/web',
      `  reproduce: promscaler backtest --scaler 'FILE#shop/web' ${OPTIONS}`,
      'shop/api: no change: the history of 9h is too short',
      '1 of 3 scalers have not been back-tested yet',
      '',
    ]);
  });

  it('prints the patch of a Scaler object as one command for a shell', async () => {
    const app = appOf(tested(), {}, { generationsOf: () => ({ generation: 4, newestGeneration: 4 }) });
    const url = await serveApp(app);

    const { stdout } = await runCli(['status', 'shop/web', '--recommendations', '--url', url]);

    expect(stdout).toContain(
      `  apply: kubectl patch -n shop scalers.promscaler.dev web --type=merge -p '{"spec":{"tolerance":0.05,"note":"it'\\''s"}}'\n`,
    );
    expect(stdout).toContain(
      `  reproduce: kubectl get scalers.promscaler.dev web -n shop -o yaml | promscaler backtest --scaler - ${OPTIONS}\n`,
    );
  });

  it('writes the same with the commands as JSON', async () => {
    const url = await serve(tested());

    const { stdout } = await runCli(['status', '--recommendations', '-o', 'json', ...url]);

    const { items } = JSON.parse(stdout) as { readonly items: readonly Record<string, unknown>[] };
    expect(items).toMatchObject([
      { namespace: 'shop', name: 'api', changes: [], applyWith: null },
      { name: 'web', saving: { percent: 12.5 }, thetaU: { proposed: 0.012 }, patch: expect.any(String) },
    ]);
  });

  it('says when no document was back-tested', async () => {
    const url = await serve(fourScalers());

    const { stdout } = await runCli(['status', '--recommendations', ...url]);

    expect(stdout).toBe(
      'no document has been back-tested yet: back-tests run nightly if recommendations.enabled is true in the service config\n',
    );
  });

  it.each([[['--watch']], [['-o', 'wide']], [['-o', 'name']]])('excludes %j', async (option) => {
    const { exitCode, stderr } = await runCli([
      'status',
      '--recommendations',
      ...option,
      '--url',
      'http://127.0.0.1:9',
    ]);

    expect([exitCode, stderr]).toEqual([
      2,
      `promscaler: --recommendations excludes ${option.join(' ')}: remove one of them\n`,
    ]);
  });
});
