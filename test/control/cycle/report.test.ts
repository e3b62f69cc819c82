import { describe, expect, it } from '@jest/globals';
import type { CycleOutput, CycleReportPorts } from '../../../src/control/cycle/types.js';
import { reportCycle } from '../../../src/control/cycle/report.js';
import type { OutcomeKind } from '../../../src/telemetry/cycle-record.js';
import { createLedger } from '../../../src/telemetry/ledger.js';
import { SILENT_LOG } from '../../../src/units/log.js';
import { failure } from '../fake-cluster.js';
import { Fixture } from '../fixture.js';

describe('reportCycle', () => {
  it('records the cycle, and an Event for its change of the target', async () => {
    const { ledger, events, observed, ports } = buildPorts();
    const output = await scaleUp();

    reportCycle(output, { isCanceled: false }, ports);

    expect(ledger.get('shop/web')?.record).toBe(output.record);
    expect(events).toEqual(['SuccessfulRescale']);
    expect(observed).toEqual([output]);
  });

  it('records FailedGetScale in the first of two cycles whose target does not exist', async () => {
    const { events, ports } = buildPorts();
    const fixture = new Fixture();
    fixture.cluster.targetFailure = failure('not_found', 'reading Deployment shop/web: 404');

    for (let cycle = 0; cycle < 2; cycle += 1)
      reportCycle(await fixture.nextCycle(), { isCanceled: false }, ports);

    expect(events).toEqual(['FailedGetScale']);
  });

  it.each<[OutcomeKind, boolean]>([
    ['patched', true],
    ['replaced', true],
    ['failed', true],
    ['none', false],
    ['held', false],
    ['conflict', false],
  ])('records a canceled cycle with the outcome %s: %p', async (kind, isRecorded) => {
    const { observed, ports } = buildPorts();

    reportCycle(withOutcome(await scaleUp(), kind), { isCanceled: true }, ports);

    expect(observed.length > 0).toBe(isRecorded);
  });

  it('exposes no scaler of a cycle that outlives the term', async () => {
    const { ledger, observed, ports } = buildPorts({ isLeading: () => false });

    reportCycle(await scaleUp(), { isCanceled: true }, ports);

    expect(observed).toHaveLength(1);
    expect(ledger.get('shop/web')).toBeNull();
  });

  it('logs a failure of an observer, and does not throw', async () => {
    const errors: unknown[] = [];
    const log = {
      ...SILENT_LOG,
      error: (message: string, facts?: object) => void errors.push({ message, ...facts }),
    };
    const failure = new Error('observer');
    const onCycle = (): never => {
      throw failure;
    };
    const { ledger, ports } = buildPorts({ log, onCycle });

    reportCycle(await scaleUp(), { isCanceled: false }, ports);

    expect(errors).toEqual([{ message: 'failed to record cycle', scaler: 'shop/web', error: failure }]);
    expect(ledger.get('shop/web')).not.toBeNull();
  });
});

async function scaleUp(): Promise<CycleOutput> {
  const fixture = new Fixture();
  fixture.load = 90;
  const output = await fixture.cycle();
  expect(output.record.outcome.kind).toBe('patched');
  return output;
}

function withOutcome(output: CycleOutput, kind: OutcomeKind): CycleOutput {
  return { ...output, record: { ...output.record, outcome: { ...output.record.outcome, kind } } };
}

function buildPorts(over: Partial<CycleReportPorts> = {}) {
  const ledger = createLedger();
  const events: string[] = [];
  const observed: CycleOutput[] = [];
  const ports: CycleReportPorts = {
    recorder: { add: ledger.add, remove: ledger.remove },
    sendEvent: (_target, { reason }) => void events.push(reason),
    isLeading: () => true,
    log: SILENT_LOG,
    onCycle: (output) => void observed.push(output),
    ...over,
  };
  return { ledger, events, observed, ports };
}
