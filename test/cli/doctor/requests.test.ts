import { describe, expect, it } from '@jest/globals';
import { checkRequests } from '../../../src/cli/checks/requests.js';
import type { ScalerFacts } from '../../../src/cli/checks/scaler-facts.js';
import type { ClusterPod } from '../../../src/kubernetes/api/types.js';
import { aPod, scalerOf } from '../../support/builders.js';
import { cluster, diagnoseHealthy, document, shop } from './fixture.js';
import { resultsOf, type Checked } from '../../../src/cli/checks/check-result.js';

describe('requests', () => {
  it('that are missing fail, with the kubectl command that sets them', async () => {
    const containers = [{ name: 'app', cpuRequest: '1' }, { name: 'proxy' }, { name: 'log' }];
    const simulator = await cluster({ workloads: [shop('web', { containers })] });

    const [found] = (await diagnoseHealthy(simulator, { web: document('web') })).of('requests');

    expect(found?.message).toContain('containers proxy, log of deployment shop/web have no cpu request');
    expect(found?.fix).toContain(
      'kubectl set resources deployment/web -n shop -c proxy,log --requests=cpu=250m',
    );
  });

  it('of 0 fail, because no percentage of them can be calculated, unless another container has one', async () => {
    const zero = { name: 'app', cpuRequest: '0', cpuLimit: '0' };
    const diagnose = async (proxy: string) => {
      const containers = [zero, { name: 'proxy', cpuRequest: proxy }];
      return diagnoseHealthy(await cluster({ workloads: [shop('web', { containers })] }), {
        web: document('web'),
      });
    };

    const { of } = await diagnose('0');

    expect(of('requests')).toMatchObject([
      {
        status: 'failed',
        message:
          'the cpu requests of containers app, proxy of deployment shop/web are 0, but a target in percent of the cpu requests needs a request above 0',
        fix: expect.stringMatching(
          /^kubectl set resources deployment\/web -n shop -c app,proxy --requests=cpu=250m, with a value/,
        ),
      },
    ]);
    expect(of('decision')).toMatchObject([
      {
        message: expect.stringContaining('cpu: containers app and proxy request 0 cpu (pod web-'),
        fix: expect.stringMatching(/^see the problems above/),
      },
    ]);
    expect((await diagnose('10m')).of('requests')).toEqual([]);
  });

  it('are not required for a metric without a percentage', async () => {
    const simulator = await cluster({ workloads: [shop('web', { containers: [{ name: 'app' }] })] });
    const metrics = '  metrics: [{ resource: { name: cpu, target: { averageValue: 500m } } }]\n';

    const { of } = await diagnoseHealthy(simulator, { web: document('web', metrics) });

    expect(of('requests')).toEqual([]);
  });

  const SATURATED = `  podStart: {}
  metrics: [{ resource: { name: cpu, target: { averageUtilization: 60 }, saturation: { served: { query: 'sum(rate(http_requests_total[1m]))' } } } }]
`;

  it('without cpu limits are a warning of a saturation step, which never acts then', async () => {
    const simulator = await cluster({
      workloads: [shop('web', { containers: [{ name: 'app', cpuRequest: '500m' }] })],
    });

    const { of } = await diagnoseHealthy(simulator, { web: document('web', SATURATED) });

    expect(of('requests')).toMatchObject([
      {
        status: 'warning',
        message: expect.stringMatching(
          /^saturation of cpu never adds pods, because pod web-\S+ of deployment shop\/web has no cpu limit for at least one container$/,
        ),
        fix: 'set resources.limits.cpu of each container, or remove resource.saturation from the document',
      },
    ]);
  });

  it('with cpu limits are no warning of a saturation step', async () => {
    const { of } = await diagnoseHealthy(await cluster({ workloads: [shop('web')] }), {
      web: document('web', SATURATED),
    });

    expect(of('requests')).toEqual([]);
  });

  it('of a container that no pod has fail, with the existing ones', async () => {
    const simulator = await cluster({ workloads: [shop('web')] });
    const metrics =
      '  metrics: [{ containerResource: { name: cpu, container: ap, target: { averageUtilization: 60 } } }]\n';

    const [found] = (await diagnoseHealthy(simulator, { web: document('web', metrics) })).of('requests');

    expect(found).toMatchObject({
      message: 'ContainerResource metric ap/cpu: no pod of deployment shop/web has a container ap',
      fix: 'set spec.metrics[0].containerResource.container to app',
    });
  });

  it('that an ended pod lacks fail, because the decision needs one of every pod that the selector matches', () => {
    const scaler = scalerOf({ scaleTargetRef: { name: 'web' }, maxReplicas: 12 });
    const check = (fields: Partial<ClusterPod>) => {
      const ofPod = (name: string, more: Partial<ClusterPod>) => ({ name, pod: aPod(name, more) });
      const pods = [
        ofPod('web-0', { requests: new Map([['app', new Map([['cpu', 500n]])]]) }),
        ofPod('web-1', { requests: new Map([['app', new Map()]]), ...fields }),
      ];
      const target = { ref: scaler.spec.scaleTargetRef, namespace: 'shop' };
      const make = resultsOf('requests', 'shop/web');
      // Only what the check reads.
      return [
        checkRequests({ scaler, cluster: { target, pods }, make } as unknown as Checked<ScalerFacts>),
      ].flat();
    };

    expect(check({ phase: 'Failed' })).toMatchObject([
      {
        status: 'failed',
        message:
          'pod web-1 of deployment shop/web has ended and has no cpu request, but a target in percent of the cpu requests needs one for each pod',
        fix: 'kubectl delete -n shop pod web-1',
      },
    ]);
    expect(check({ phase: 'Failed', deleting: true })).toMatchObject([{ status: 'ok' }]);
  });
});
