import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { cpuDocument, startFixture } from '../../e2e/fixture.js';
import type { Fixture } from '../../e2e/fixture.js';
import type { ServiceProcess } from '../../e2e/service-process.js';
import { E2E_TIMEOUT_MS, pause, waitFor } from '../../e2e/waiting.js';

jest.setTimeout(E2E_TIMEOUT_MS);

const NO_WINDOW = '  behavior: { scaleDown: { stabilizationWindowSeconds: 0 } }\n';

describe('a real Prometheus that loses its data twice, under a constant load', () => {
  let fixture: Fixture;
  let service: ServiceProcess;

  beforeAll(async () => {
    fixture = await startFixture([{ name: 'web', replicas: 6, load: 3.2 }]);
    // Only the recovery hold prevents a scale-down by the first rates, of a few percent of the actual load.
    const document = cpuDocument(fixture, 'web').replace('  downscaleStabilizationSeconds: 10\n', NO_WINDOW);
    await fixture.writeDocument('web.yaml', document);
    service = await fixture.startService();
  });

  afterAll(() => fixture.close());

  it('does not change the 6 replicas', async () => {
    const hasValue = async (): Promise<boolean> =>
      (await service.metrics('promscaler_metric_value{')).length > 0;
    await waitFor(hasValue, { what: 'a value' });
    await pause(12);
    const before = await fixture.replicas('web');

    for (const outageSeconds of [2, 8]) {
      await fixture.stopPrometheus();
      await pause(outageSeconds);
      await fixture.startPrometheusAgain();
      await waitFor(
        async () => (await service.metrics('promscaler_limited{', 'limit="recovery_hold"')).length === 1,
        { what: 'the recovery hold to hold what the first rates ask for' },
      );
      await pause(25);
    }

    expect(before).toBe(6);
    expect(await fixture.replicas('web')).toBe(6);
    expect(await fixture.changes('web')).toBe(0);
  });
});
