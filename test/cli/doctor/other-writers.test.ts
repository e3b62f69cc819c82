import { describe, expect, it } from '@jest/globals';
import { send } from '../../simulator/cluster.js';
import type { CheckName, CheckResult } from '../../../src/cli/checks/check-result.js';
import { cluster, diagnoseHealthy, type Diagnosis, document, shop } from './fixture.js';

describe('other-scaler', () => {
  it('is an HPA or its owner, with the command that deletes it', async () => {
    const simulator = await cluster({ workloads: [shop('web'), shop('db', { kind: 'StatefulSet' })] });
    const hpa = (name: string, target: object, metadata: object = {}): unknown =>
      simulator.addObject({
        apiVersion: 'autoscaling/v2',
        kind: 'HorizontalPodAutoscaler',
        metadata: { namespace: 'shop', name, ...metadata },
        spec: { scaleTargetRef: target, maxReplicas: 3 } as never,
      });
    hpa('web-hpa', { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' });
    hpa(
      'keda-hpa-db',
      { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db' },
      {
        ownerReferences: [
          { apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', name: 'db', uid: 'u', controller: true },
        ],
      },
    );

    const { of } = await diagnoseHealthy(simulator, {
      web: document('web'),
      db: document('db', '  scaleTargetRef: { kind: StatefulSet, name: db }\n'),
    });

    expect(of('other-scaler').map(({ fix }) => fix?.replace(/ \(.*/, ''))).toEqual([
      'kubectl delete -n shop scaledobject db',
      'kubectl delete -n shop hpa web-hpa',
    ]);
    const nothing = (target: string, name: string, kind: string) =>
      `nothing scales ${target}: ${name} has the same target, but no desired replicas: the HPA controller has not set them yet; promscaler does not patch the target until the ${kind} is deleted`;
    expect(of('other-scaler').map(({ message }) => message)).toEqual([
      nothing('statefulset shop/db', 'ScaledObject shop/db', 'ScaledObject'),
      nothing('deployment shop/web', 'HorizontalPodAutoscaler shop/web-hpa', 'HorizontalPodAutoscaler'),
    ]);
  });

  it('is a second document for the same target', async () => {
    const simulator = await cluster({ workloads: [shop('web')] });

    const { of } = await diagnoseHealthy(simulator, {
      one: document('one', '  scaleTargetRef: { name: web }\n'),
      two: document('two', '  scaleTargetRef: { name: web }\n'),
    });
    expect(of('other-scaler').map(({ message }) => message)).toEqual([
      'Scaler shop/two also scales deployment shop/web: promscaler patches the target for neither of the two scalers',
      'Scaler shop/one also scales deployment shop/web: promscaler patches the target for neither of the two scalers',
    ]);
  });

  it.each([
    [403, 'warning'],
    [500, 'failed'],
  ])('that cannot be listed after %i is %s', async (status, result) => {
    const simulator = await cluster({ workloads: [shop('web')] });
    simulator.faults.add({ resource: 'horizontalpodautoscalers' }, { kind: 'refuse', status });
    const { of } = await diagnoseHealthy(simulator, { web: document('web') });
    expect(of('other-scaler')).toMatchObject([{ status: result }]);
  });
});

describe('replicas-writer', () => {
  async function setBy(manager: string): Promise<Diagnosis> {
    const simulator = await cluster({ workloads: [shop('web')] });
    simulator.setReplicas({ namespace: 'shop', name: 'web' }, 3, manager);
    return diagnoseHealthy(simulator, { web: document('web') });
  }

  it.each([
    ['argocd-controller', 'ignoreDifferences'],
    ['kustomize-controller', 'Flux'],
    ['helm', 'autoscaling.enabled'],
    ['kubectl-client-side-apply', 'kubectl apply edit-last-applied deployment/web -n shop, then'],
    ['Terraform', 'ignore_changes'],
  ])('warns about %s, and prints how to remove the field from it', async (manager, fix) => {
    const [found] = (await setBy(manager)).of('replicas-writer' satisfies CheckName);

    expect(found?.status).toBe('warning');
    expect(found?.message).toContain(
      manager === 'kubectl-client-side-apply' ? 'kubectl apply has set' : manager,
    );
    expect(found?.fix).toContain(fix);
  });

  async function applied(
    manifest: string,
    { spec = '', then = [] as readonly string[] } = {},
  ): Promise<readonly CheckResult[]> {
    const simulator = await cluster({ workloads: [shop('web')] });
    simulator.setReplicas({ namespace: 'shop', name: 'web' }, 3, 'kubectl-client-side-apply');
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': manifest };
    const query = '?fieldManager=kubectl-client-side-apply';
    await send(simulator, 'PATCH', `/apis/apps/v1/namespaces/shop/deployments/web${query}`, {
      body: { metadata: { annotations } },
    });
    for (const [index, manager] of then.entries())
      simulator.setReplicas({ namespace: 'shop', name: 'web' }, 5 + index, manager);
    return (await diagnoseHealthy(simulator, { web: document('web', spec) })).of('replicas-writer');
  }

  it('warns about kubectl apply only if the manifest that was applied has spec.replicas', async () => {
    expect(await applied('{"spec":{"replicas":3}}')).toMatchObject([{ status: 'warning' }]);
    expect(await applied('{"spec":{"template":{}}}')).toEqual([]);
    expect(await applied('no JSON')).toMatchObject([{ status: 'warning' }]);
  });

  it('warns before the end of a dry run, next to an HPA that has set the count', async () => {
    const dryRun = { spec: '  dryRun: true\n', then: ['kube-controller-manager'] };
    expect(await applied('{"spec":{"replicas":3}}', dryRun)).toMatchObject([
      {
        status: 'warning',
        message:
          'kubectl apply has set spec.replicas of deployment shop/web: after the dry run, each run of kubectl apply may reset the replica count',
      },
    ]);
    expect(await applied('{"spec":{"template":{}}}', dryRun)).toEqual([]);
  });

  it('warns about kubectl apply also after promscaler has set the count', async () => {
    const then = ['promscaler'];
    expect(await applied('{"spec":{"replicas":3}}', { then })).toMatchObject([
      {
        status: 'warning',
        message: expect.stringMatching(/^kubectl apply has set spec.replicas of /),
      },
    ]);
    expect(await applied('{"spec":{"template":{}}}', { then })).toEqual([]);
  });

  it('is one warning for several workloads with the same tool', async () => {
    const names = ['web', 'api', 'db'];
    const simulator = await cluster({ workloads: names.map((name) => shop(name)) });
    for (const name of names)
      simulator.setReplicas({ namespace: 'shop', name }, 3, name === 'db' ? 'argocd-controller' : 'helm');

    const { of } = await diagnoseHealthy(
      simulator,
      Object.fromEntries(names.map((name) => [name, document(name)])),
    );

    expect(of('replicas-writer').map(({ subject, message }) => [subject, message])).toEqual([
      [
        'cluster',
        'helm has set spec.replicas of 2 workloads (deployment shop/api, deployment shop/web): each run of helm may reset their replica counts',
      ],
      [
        'shop/db',
        'argocd-controller has set spec.replicas of deployment shop/db: each run of argocd-controller may reset the replica count',
      ],
    ]);
  });

  it('is one warning more for the workloads of the tool that are in dry run', async () => {
    const names = ['web', 'api', 'db'];
    const simulator = await cluster({ workloads: names.map((name) => shop(name)) });
    for (const name of names) simulator.setReplicas({ namespace: 'shop', name }, 3, 'helm');

    const { of } = await diagnoseHealthy(
      simulator,
      Object.fromEntries(
        names.map((name) => [name, document(name, name === 'web' ? '' : '  dryRun: true\n')]),
      ),
    );

    expect(of('replicas-writer').map(({ message }) => message)).toEqual([
      'helm has set spec.replicas of 2 workloads (deployment shop/api, deployment shop/db): after the dry run, each run of helm may reset their replica counts',
      'helm has set spec.replicas of deployment shop/web: each run of helm may reset the replica count',
    ]);
  });

  it.each(['promscaler', 'kubectl', 'kube-controller-manager'])('is content with %s', async (manager) => {
    const { of, results } = await setBy(manager);

    expect(of('replicas-writer')).toEqual([]);
    expect(results.find(({ check }) => check === 'replicas-writer')?.message).toContain(
      manager === 'kubectl-client-side-apply' ? 'kubectl apply has set' : manager,
    );
  });
});
