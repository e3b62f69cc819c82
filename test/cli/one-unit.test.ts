import { describe, expect, it } from '@jest/globals';
import { explainLines } from '../../src/cli/explanation/explain-lines.js';
import { currentMetrics, metricTargets } from '../../src/control/status/object-status.js';
import { formatMetric } from '../../src/dashboard/ui/formats.js';
import { createLedger } from '../../src/telemetry/ledger.js';
import { runCli } from './fake-io.js';
import { cpuSnapshot, recordOf, scalerDocument } from './live-service.js';
import { serve } from './status/status-fixture.js';

const AT = '2026-01-01T00:00:00Z';
const MIB = 1024 ** 2;

/** Returns how each output prints the metric: the reason, explain, status, and the status of a Scaler object. */
async function outputsOf(snapshot: unknown): Promise<Readonly<Record<string, string>>> {
  const record = recordOf(snapshot);
  const { decision, snapshot: read } = record;
  if (decision === null || read === null) throw new Error('there is no decision');
  const ledger = createLedger();
  ledger.add(record);
  const status = await runCli(['status', '-o', 'wide', ...(await serve(ledger))]);
  const explained = explainLines({ snapshot: read, decision, status: null, now: read.now });
  return {
    reason: decision.reason,
    explain: explained.find((line) => line.includes(' - proposes ')) ?? '',
    status: status.stdout,
    targets: metricTargets({ record }),
    currentMetrics: JSON.stringify(currentMetrics({ record })),
  };
}

describe('one quantity has one unit in all outputs', () => {
  it('memory of 192 MiB per pod, target 128Mi, is printed in Mi', async () => {
    const target = { averageValue: '128Mi' };
    const usage = Object.fromEntries(['a', 'b', 'c', 'd'].map((pod) => [pod, { app: 192 * MIB }]));
    const outputs = await outputsOf(
      cpuSnapshot(0, {
        scaler: scalerDocument({ metrics: [{ resource: { name: 'memory', target } }] }),
        samples: [{ at: AT, windowSeconds: 0, containers: usage }],
      }),
    );

    for (const [output, text] of Object.entries(outputs)) {
      expect([output, text]).toEqual([output, expect.stringContaining('192Mi')]);
      expect([output, text]).toEqual([output, expect.not.stringMatching(/\d{6,}/)]);
    }
    expect(outputs['reason']).toBe('memory is at 192Mi per pod, target 128Mi: 4 -> 6');
    expect(formatMetric(192 * MIB, { name: 'memory', unit: 'average' })).toBe('192Mi');
  });

  it('cpu of 250m per pod, target 500m, is printed in cores', async () => {
    const usage = Object.fromEntries(['a', 'b', 'c', 'd'].map((pod) => [pod, { app: 0.25 }]));
    const outputs = await outputsOf(
      cpuSnapshot(0, {
        scaler: scalerDocument({
          metrics: [{ resource: { name: 'cpu', target: { averageValue: '500m' } } }],
        }),
        samples: [{ at: AT, windowSeconds: 60, containers: usage }],
      }),
    );

    for (const [output, text] of Object.entries(outputs)) {
      expect([output, text]).toEqual([output, expect.stringContaining('0.25')]);
      expect([output, text]).toEqual([output, expect.not.stringMatching(/\d0m/)]);
    }
  });

  it('a total of 130 over 4 replicas is printed as 32.5 per pod, and as a total only next to that', async () => {
    const external = { metric: { name: 'queue' }, query: 'sum(x)', target: { averageValue: 30 } };
    const outputs = await outputsOf(
      cpuSnapshot(0, {
        scaler: scalerDocument({ metrics: [{ external }], tolerance: 0 }),
        samples: [{ at: AT, values: [130] }],
      }),
    );

    for (const [output, text] of Object.entries(outputs))
      expect([output, text]).toEqual([output, expect.stringContaining('32.5')]);
    expect(outputs['reason']).toBe('queue is at 32.5 per pod, 130 in total, target 30 per pod: 4 -> 5');
    expect(outputs['explain']).toBe(
      '  queue (External): 32.5 per pod, 130 in total, target 30 per pod - proposes 5',
    );
  });

  it('memory has as many decimals as its count needs: 2 bytes more than 6 x 128Mi over 4 pods', async () => {
    const target = { averageValue: '128Mi' };
    const usage = Object.fromEntries(['a', 'b', 'c', 'd'].map((pod) => [pod, { app: 192 * MIB + 2 }]));
    const { reason } = await outputsOf(
      cpuSnapshot(0, {
        scaler: scalerDocument({ metrics: [{ resource: { name: 'memory', target } }] }),
        samples: [{ at: AT, windowSeconds: 0, containers: usage }],
      }),
    );

    expect(reason).toBe('memory is at 192.000002Mi per pod, target 128Mi: 4 -> 7');
  });
});
