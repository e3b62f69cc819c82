import { afterEach } from '@jest/globals';
import { createLedger } from '../../../src/telemetry/ledger.js';
import type { Ledger } from '../../../src/telemetry/ledger.js';
import { ManualClock } from '../../support/manual-clock.js';
import { appOf, cpuSnapshot, listen, recordOf } from '../live-service.js';
import type { Listening } from '../live-service.js';

const services: Listening[] = [];

afterEach(async () => {
  await Promise.all(services.splice(0).map((service) => service.close()));
});

/** Starts a server until the end of the test, and returns its address. */
export async function serveApp(app: Parameters<typeof listen>[0]): Promise<string> {
  const service = await listen(app);
  services.push(service);
  return service.url;
}

/** Returns the options of `status` for a service with this ledger. */
export async function serve(ledger: Ledger): Promise<readonly string[]> {
  return ['--url', await serveApp(appOf(ledger))];
}

/** A clock 20 s after the decisions of `fourScalers`. */
export const CLOCK_AT_20_S = (): ManualClock => new ManualClock('2026-01-01T00:00:20Z');

/**
 * Four scalers: one scales up, one is held by its window, one has a missing metric, one is in another namespace and in
 * dry run.
 */
export function fourScalers(): Ledger {
  const ledger = createLedger();
  ledger.add(recordOf(cpuSnapshot(83), { outcome: { kind: 'patched', from: 4, to: 6, message: '' } }));
  const state = { recommendations: [{ at: '2025-12-31T23:59:00Z', replicas: 4 }] };
  ledger.add(recordOf(cpuSnapshot(30, { name: 'api', state })));
  ledger.add(recordOf(cpuSnapshot(0, { name: 'dead', samples: [{ error: 'gone', kind: 'missing' }] })));
  const elsewhere = recordOf(cpuSnapshot(60, { name: 'zoo', namespace: 'animals' }));
  const held = { type: 'Held', status: 'True', reason: 'DryRun', message: '' } as const;
  ledger.add({ ...elsewhere, conditions: [...elsewhere.conditions, held] });
  return ledger;
}
