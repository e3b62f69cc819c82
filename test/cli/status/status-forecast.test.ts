import { describe, expect, it } from '@jest/globals';
import { worthRaising } from '../../../src/decision/forecast/worth.js';
import { createLedger } from '../../../src/telemetry/ledger.js';
import { at } from '../../support/builders.js';
import { runCli } from '../fake-io.js';
import { cpuSnapshot, recordOf, scalerDocument } from '../live-service.js';
import { CLOCK_AT_20_S, serve } from './status-fixture.js';

describe('status of a document with a forecast', () => {
  it.each([
    ['Raise', 'forecast raises 4 to 8'],
    ['Observe', 'forecast would raise 4 to 8'],
  ])('says what a forecast with mode %s does', async (mode, text) => {
    const record = recordOf(cpuSnapshot(60, { scaler: scalerDocument({ forecast: { mode } }) }));
    const { decision } = record;
    if (decision === null) throw new Error('there is a decision');
    const forecast = { replicas: 8, why: '', isUsed: mode === 'Raise', reactive: 4, spentPercent: 0 };
    const ledger = createLedger();
    ledger.add({ ...record, decision: { ...decision, forecast } });

    const { stdout } = await runCli(['status', ...(await serve(ledger))], { clock: CLOCK_AT_20_S() });
    expect(stdout).toMatch(new RegExp(`${text}\\n$`));
  });

  it('says that a forecast that observes is worth switching on, until it no longer is', async () => {
    const part = { reactive: 216_000, added: 4320, short: 900, prevented: 600 };
    const spent = Array.from({ length: 12 }, (_, index) => ({ from: at(index * 21_600), ...part }));
    const record = recordOf(cpuSnapshot(60, { scaler: scalerDocument({ forecast: {} }) }));
    const { forecast } = record.scaler.spec;
    if (forecast === null) throw new Error('the document has a forecast');
    const useful = worthRaising(forecast, { spent });
    if (useful === null) throw new Error('two thirds are prevented, for 2 % more replicas');
    const ledger = createLedger();
    ledger.add({ ...record, conditions: [...record.conditions, useful] });
    const url = await serve(ledger);
    const causes = async (): Promise<string> =>
      (await runCli(['status', ...url], { clock: CLOCK_AT_20_S() })).stdout;

    expect(await causes()).toMatch(
      / 20s {4}spec\.forecast\.mode: Raise would have prevented 67 % of the missing pods of the last 3 days for 2 % more replicas \(budgetPercent is 4\)\n$/,
    );
    ledger.add(record);
    expect(await causes()).not.toContain('Raise');
  });
});
