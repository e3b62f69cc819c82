import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../src/simulator/kinds/json.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import { cluster, document, type Diagnosis, diagnosed, healthy, prometheus } from './fixture.js';

async function diagnose(
  simulator: Simulator,
  documents: Readonly<Record<string, string>>,
  args: readonly string[] = [],
): Promise<Diagnosis> {
  const pods = simulator.listObjects('/pods', 'shop').map(({ metadata }) => metadata.name);
  const { url } = await prometheus(healthy(pods));
  return diagnosed({ prometheus: url, kubernetes: simulator.url, documents, args });
}

it('other-scaler succeeds for a dry run next to a document that scales, and names it', async () => {
  const simulator = await cluster({ workloads: [{ namespace: 'shop', name: 'web', replicas: 2 }] });

  const { results } = await diagnose(simulator, {
    trial: document('trial', '  scaleTargetRef: { name: web }\n  dryRun: true\n'),
    web: document('web'),
  });

  const found = results.filter(({ check }) => check === 'other-scaler');
  expect(found.map(({ status, message }) => `${status} ${message}`)).toEqual([
    'ok dry run next to Scaler shop/web: delete one of the two before the dry run ends',
    'ok ',
  ]);
});

describe('other-scaler with a dry run', () => {
  const HELD = {
    desiredReplicas: 5,
    currentMetrics: [{ type: 'Resource', resource: { name: 'cpu', current: { averageValue: '1m' } } }],
    lastScaleTime: '2026-01-01T00:00:00Z',
  };
  const nextToHpa = async (status: JsonObject): Promise<Simulator> => {
    const simulator = await cluster({ workloads: [{ namespace: 'shop', name: 'web', replicas: 2 }] });
    simulator.addObject({
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { namespace: 'shop', name: 'web-hpa' },
      spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, maxReplicas: 3 },
      status,
    });
    return simulator;
  };
  const messagesOf = ({ results }: Diagnosis): readonly string[] =>
    results.filter(({ check }) => check === 'other-scaler').map(({ message }) => message);

  it.each([
    [
      'of the document',
      '  dryRun: true\n',
      [],
      HELD,
      ' with 5 desired replicas; the metric promscaler_shadow_difference_replicas compares the two',
    ],
    [
      'of the service',
      '',
      ['--dry-run'],
      HELD,
      ' with 5 desired replicas; the metric promscaler_shadow_difference_replicas compares the two',
    ],
    [
      'of the document, before the HPA has computed',
      '  dryRun: true\n',
      [],
      { desiredReplicas: 0 },
      ', which has no desired replicas yet',
    ],
  ])('%s is compared with the HPA, and the check succeeds', async (_what, spec, args, status, wanted) => {
    const simulator = await nextToHpa(status);

    const report = await diagnose(simulator, { web: document('web', spec) }, args);

    expect(report.of('other-scaler')).toEqual([]);
    expect(messagesOf(report)).toEqual([`dry run next to HorizontalPodAutoscaler shop/web-hpa${wanted}`]);
  });

  it('fails for an HPA next to a scaler without dry run, and suggests dryRun', async () => {
    const simulator = await nextToHpa(HELD);

    const { of } = await diagnose(simulator, { web: document('web') });

    expect(of('other-scaler')).toMatchObject([
      { status: 'failed', fix: expect.stringContaining('spec.dryRun: true') },
    ]);
  });
});
