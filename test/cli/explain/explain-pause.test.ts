import { afterEach, describe, expect, it } from '@jest/globals';
import { createLedger } from '../../../src/telemetry/ledger.js';
import { ManualClock } from '../../support/manual-clock.js';
import { condition } from '../../telemetry/record-builder.js';
import { runCli } from '../fake-io.js';
import { appOf, cpuSnapshot, listen, recordOf, scalerDocument } from '../live-service.js';
import type { Listening } from '../live-service.js';

const AT_THREE = {
  by: 'annotation',
  direction: 'both',
  until: null,
  replicas: 3,
  annotated: null,
  notes: [],
} as const;

describe('explain of a paused scaler', () => {
  let service: Listening | null = null;

  afterEach(() => service?.close());

  it('prints the pause as the reason of its change, and the decision without it', async () => {
    const ledger = createLedger();
    const message = 'paused by annotation, kept at 3 (6 recommended)';
    const outcome = { kind: 'patched', from: 4, to: 3, message } as const;
    ledger.add(recordOf(cpuSnapshot(83), { outcome, pause: AT_THREE, reason: `4 -> 3: ${message}` }));
    service = await listen(appOf(ledger));

    const { stdout } = await runCli(['explain', 'shop/web', '--url', service.url]);

    expect(stdout).toMatch(/^shop\/web {2}scaled down from 4 to 3, not 6: the pause keeps 3 replicas {2}\(/);
    expect(stdout).toContain(`: 4 -> 3: ${message}\n`);
    expect(stdout).toContain('\nwithout the pause: cpu is at 83 % of the requests, target 60 %: 4 -> 6\n');
    expect(stdout).toContain('\nLimits without the pause: none changed the recommendation of 6\n');
    expect(stdout).toContain(`Outcome: patched 4 -> 3: ${message}\n`);
  });

  it('names the dry run, not the pause, as what prevents the change to a fixed count', async () => {
    const ledger = createLedger();
    const outcome = { kind: 'dry-run', from: 4, to: 3, message: 'spec.dryRun is true' } as const;
    const message =
      'scaling is paused by annotation; would be kept at 3 without the dry run; spec.dryRun is true';
    const conditions = [condition({ type: 'Held', reason: 'Paused', message })];
    ledger.add(recordOf(cpuSnapshot(83), { outcome, pause: AT_THREE, conditions, dryRun: true }));
    service = await listen(appOf(ledger));

    const { stdout } = await runCli(['explain', 'shop/web', '--url', service.url]);

    expect(stdout).toMatch(/^shop\/web {2}stays at 4, not 3: DryRun {2}\(/);
    expect(stdout).toContain('\nnot applied: spec.dryRun is true\n');
    expect(stdout).toContain('\nOutcome: dry-run 4 -> 3: spec.dryRun is true\n');
  });

  it('says that the state Paused of 20 s and the status of Held, True for 50 s, have different times', async () => {
    const ledger = createLedger();
    const pause = {
      by: 'annotation',
      direction: 'both',
      until: null,
      replicas: null,
      annotated: null,
      notes: [],
    } as const;
    const at = (time: string, reason: 'DryRun' | 'Paused') =>
      recordOf(cpuSnapshot(60, { now: time }), {
        conditions: [condition({ type: 'Held', reason, message: 'held' })],
        ...(reason === 'Paused' ? { pause } : {}),
        dryRun: true,
      });
    ledger.add(at('2026-01-01T00:00:00Z', 'DryRun'));
    ledger.add(at('2026-01-01T00:00:30Z', 'Paused'));
    service = await listen(appOf(ledger));
    const clock = new ManualClock('2026-01-01T00:00:50Z');

    const { stdout } = await runCli(['explain', 'shop/web', '--url', service.url], { clock });

    expect(stdout).toMatch(/^state: Paused for 20s/m);
    expect(stdout).toMatch(/^Conditions, each with its status and the time since the status last changed$/m);
    expect(stdout).toMatch(/^ {2}Held +True +for 50s +Paused: held$/m);
  });

  it('says in the first line that nothing is patched, not that a change is not applied, if the count stays in a conflict', async () => {
    const ledger = createLedger();
    const outcome = { kind: 'none', from: 4, to: 4, message: '' } as const;
    const message = 'Scaler shop/api scales the same target';
    const held = condition({ type: 'Held', reason: 'ConflictingScaler', message });
    ledger.add(recordOf(cpuSnapshot(60), { outcome, conditions: [held] }));
    service = await listen(appOf(ledger));

    const { stdout } = await runCli(['explain', 'shop/web', '--url', service.url]);

    expect(stdout).toMatch(/^shop\/web {2}stays at 4: ConflictingScaler, so nothing is patched {2}\(/);
    expect(stdout).not.toContain('not applied');
    expect(stdout).toMatch(new RegExp(`^state: Conflict\\b.*: ${message}$`, 'm'));
  });

  it('names the conflict before the limit that keeps the count', async () => {
    const ledger = createLedger();
    const outcome = { kind: 'none', from: 4, to: 4, message: '' } as const;
    const message = 'Scaler shop/api scales the same target';
    const held = condition({ type: 'Held', reason: 'ConflictingScaler', message });
    const snapshot = cpuSnapshot(15, {
      scaler: scalerDocument({ behavior: { scaleDown: { selectPolicy: 'Disabled' } } }),
    });
    ledger.add(recordOf(snapshot, { outcome, conditions: [held] }));
    service = await listen(appOf(ledger));

    const { stdout } = await runCli(['explain', 'shop/web', '--url', service.url]);

    expect(stdout).toMatch(
      /^shop\/web {2}stays at 4, not 2: ConflictingScaler, so nothing is patched; .+ {2}\(/,
    );
  });

  it('does not say of a count that a pause keeps that it is not applied', async () => {
    const ledger = createLedger();
    const message = 'paused by annotation, kept at 4 (6 recommended)';
    const pause = {
      by: 'annotation',
      direction: 'both',
      until: null,
      replicas: 4,
      annotated: null,
      notes: [],
    } as const;
    const outcome = { kind: 'paused', from: 4, to: 6, message } as const;
    const held = condition({
      type: 'Held',
      reason: 'Paused',
      message: 'scaling is paused by annotation; kept at 4',
    });
    ledger.add(
      recordOf(cpuSnapshot(83), { outcome, pause, reason: `stays at 4: ${message}`, conditions: [held] }),
    );
    service = await listen(appOf(ledger));

    const { stdout } = await runCli(['explain', 'shop/web', '--url', service.url]);

    expect(stdout).toMatch(/^shop\/web {2}stays at 4, not 6: the pause keeps 4 replicas {2}\(/);
    expect(stdout).not.toContain('not applied');
    expect(stdout).toContain('\nwithout the pause: cpu is at 83 % of the requests, target 60 %: 4 -> 6\n');
  });

  it('prints that a change is the first after a pause', async () => {
    const ledger = createLedger();
    const reason = 'resumed: cpu is at 83 % of the requests, target 60 %: 4 -> 6';
    ledger.add(
      recordOf(cpuSnapshot(83), { outcome: { kind: 'patched', from: 4, to: 6, message: '' }, reason }),
    );
    service = await listen(appOf(ledger));

    const { stdout } = await runCli(['explain', 'shop/web', '--url', service.url]);

    expect(stdout).toMatch(/^shop\/web {2}scaled up from 4 to 6 {2}\(/);
    expect(stdout).toContain(`: ${reason}\n`);
  });
});
