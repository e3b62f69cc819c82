import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { CheckResult } from '../../../src/cli/checks/check-result.js';
import { customResourceDefinition } from '../../../src/cli/schema/definition.js';
import { permissionsBy } from '../../../src/service/permissions.js';
import type { Rule } from '../../../src/simulator/api/requests/rules.js';
import type { JsonObject } from '../../../src/simulator/kinds/json.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import { rulesFor } from '../../support/permission-rules.js';
import { cluster, type Diagnosis, diagnosed, document, prometheus } from './fixture.js';

const ON = 'scalers: { customResources: true }\n';
const GRANTED = rulesFor(permissionsBy(['crd.enabled']));

let url: string;
let simulator: Simulator;

beforeAll(async () => {
  ({ url } = await prometheus([]));
});

beforeEach(async () => {
  simulator = await cluster({ workloads: [{ namespace: 'shop', name: 'web', replicas: 1 }] });
});

function define(): void {
  simulator.addObject(customResourceDefinition() as JsonObject);
}

/** Runs the doctor as an account with these rules in all namespaces, without document files. */
function diagnose(rules: readonly Rule[] = GRANTED, config = ON, namespaces = '[]'): Promise<Diagnosis> {
  simulator.setRbac({ secret: { user: 'promscaler', rules } });
  return diagnosed({ prometheus: url, kubernetes: `${simulator.url}/as/secret`, config, namespaces });
}

function resultsOf({ results }: Diagnosis): readonly CheckResult[] {
  return results.filter(({ check }) => check === 'custom-resources');
}

describe('custom-resources', () => {
  it('is checked only if documents are read from the cluster', async () => {
    expect(resultsOf(await diagnose([], ''))).toEqual([]);
  });

  it('succeeds with the CRD and the permissions that the chart grants', async () => {
    define();

    expect(resultsOf(await diagnose())).toMatchObject([{ status: 'ok' }]);
  });

  it('fails without the CRD, and prints the command that installs it', async () => {
    expect(resultsOf(await diagnose())).toMatchObject([
      { status: 'failed', fix: expect.stringContaining('crd.enabled: true') },
    ]);
  });

  it.each([
    [
      'names an object of a namespace that is not watched',
      '[shop]',
      ['lab/web', 'lab/x', 'shop/api'],
      'lab/web, lab/x',
    ],
    ['names none if all namespaces are watched', '[]', ['lab/web'], null],
    ['names none of the namespaces that are watched', '[shop, lab]', ['lab/web', 'shop/api'], null],
  ])('%s', async (_what, namespaces, keys, named) => {
    define();
    for (const key of keys) {
      const [namespace = '', name = ''] = key.split('/');
      const spec = { scaleTargetRef: { name }, maxReplicas: 3 };
      simulator.addObject({
        apiVersion: 'promscaler.dev/v1',
        kind: 'Scaler',
        metadata: { namespace, name },
        spec,
      });
    }

    const found = resultsOf(await diagnose(GRANTED, ON, namespaces));

    const warning = {
      status: 'warning',
      message: `kubernetes.namespaces does not contain the namespaces of ${named ?? ''}: this service ignores these objects`,
    };
    expect(found).toMatchObject([named === null ? { status: 'ok' } : warning]);
  });
});

describe('doctor, with documents in the cluster', () => {
  it('checks them like those of files, and requires no directory', async () => {
    define();
    const metadata = { name: 'web', namespace: 'shop' };
    const spec = { scaleTargetRef: { name: 'absent' }, maxReplicas: 3 };
    simulator.addObject({ apiVersion: 'promscaler.dev/v1', kind: 'Scaler', metadata, spec });
    const bad = { ...spec, metrics: [{ external: { query: 'sum(', target: { value: 1 } } }] };
    simulator.addObject({
      apiVersion: 'promscaler.dev/v1',
      kind: 'Scaler',
      metadata: { ...metadata, name: 'api' },
      spec: bad,
    });

    const report = await diagnosed({ prometheus: url, kubernetes: simulator.url, config: ON });

    expect(report.of('target')).toMatchObject([{ subject: 'shop/web', status: 'failed' }]);
    const failed = report.of('config').filter(({ status }) => status === 'failed');
    expect(failed.length).toBeGreaterThan(0);
    for (const { message, fix } of failed) {
      expect(message).toContain('scalers.promscaler.dev/shop/api:');
      expect(fix).toBe('correct the object with kubectl edit scalers.promscaler.dev api -n shop');
    }
  });

  it('does not rename the target of an object that has scaled it, although a similar one exists', async () => {
    define();
    simulator.addObject({
      apiVersion: 'promscaler.dev/v1',
      kind: 'Scaler',
      metadata: { name: 'pay', namespace: 'shop' },
      spec: { scaleTargetRef: { name: 'web-2' }, maxReplicas: 3 },
      status: { lastScaleTime: '2026-01-01T00:00:00Z' },
    });

    const report = await diagnosed({ prometheus: url, kubernetes: simulator.url, config: ON });

    expect(report.of('target')).toMatchObject([
      {
        message: 'deployment shop/web-2 does not exist, but promscaler has scaled this workload before',
        fix: 'create deployment shop/web-2 again, or: kubectl delete -n shop scalers.promscaler.dev pay',
      },
    ]);
  });

  it('says to delete one of an object and a file with the same name', async () => {
    define();
    const spec = { scaleTargetRef: { name: 'web' }, maxReplicas: 3 };
    const metadata = { name: 'web', namespace: 'shop' };
    simulator.addObject({ apiVersion: 'promscaler.dev/v1', kind: 'Scaler', metadata, spec });

    const report = await diagnosed({
      prometheus: url,
      kubernetes: simulator.url,
      config: ON,
      documents: { web: document('web') },
    });

    expect(report.of('config').map(({ fix }) => fix)).toEqual([
      'delete one of the documents; to delete the object: kubectl delete scalers.promscaler.dev web -n shop',
    ]);
  });

  it('is content with onMissing and onNaN: zero and mode: exact, which a document has to say itself', async () => {
    define();
    const external = { query: 'sum(a)', target: { value: 1 }, onMissing: 'zero', onNaN: 'zero' };
    const fallback = { afterSeconds: 45, replicas: 2, mode: 'exact' };
    const spec = { scaleTargetRef: { name: 'absent' }, maxReplicas: 3, metrics: [{ external }], fallback };
    const metadata = { name: 'api', namespace: 'shop' };
    simulator.addObject({ apiVersion: 'promscaler.dev/v1', kind: 'Scaler', metadata, spec });

    const report = await diagnosed({ prometheus: url, kubernetes: simulator.url, config: ON });

    expect(report.of('config')).toEqual([]);
    const messages = report.results.filter(({ check }) => check === 'config').map(({ message }) => message);
    expect(messages.map((message) => message.replace(/^.*(spec\.\S+ is \w+).*$/, '$1'))).toEqual([
      'promscaler.yaml; 1 valid document',
      'spec.fallback.mode is exact',
      'spec.metrics[0].external.onMissing is zero',
      'spec.metrics[0].external.onNaN is zero',
    ]);
  });
});
