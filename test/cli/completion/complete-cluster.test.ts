import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { customResourceDefinition } from '../../../src/cli/schema/definition.js';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import type { JsonObject } from '../../../src/simulator/kinds/json.js';
import { type Simulator, startSimulator } from '../../../src/simulator/simulator.js';
import { folderOf, runCli } from '../fake-io.js';

const KUBECONFIG_MORE = `apiVersion: v1
kind: Config
contexts:
  - { name: staging, context: { cluster: none, user: none } }
  - { name: production, context: { cluster: none, user: none } }
`;

let simulator: Simulator;
let env: Readonly<Record<string, string>>;

function object(kind: 'Scaler' | 'HorizontalPodAutoscaler', namespace: string, name: string): JsonObject {
  return {
    apiVersion: kind === 'Scaler' ? 'promscaler.dev/v1' : 'autoscaling/v2',
    kind,
    metadata: { namespace, name },
    spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name }, maxReplicas: 5 },
  };
}

beforeAll(async () => {
  simulator = await startSimulator({
    clock: SYSTEM_CLOCK,
    workloads: [{ namespace: 'shop', name: 'web', replicas: 1 }],
  });
  simulator.addObject(customResourceDefinition() as JsonObject);
  simulator.addObject(object('Scaler', 'shop', 'checkout'));
  simulator.addObject(object('Scaler', 'shop', 'cart'));
  simulator.addObject(object('Scaler', 'billing', 'invoices'));
  simulator.addObject(object('HorizontalPodAutoscaler', 'shop', 'web'));
  const folder = folderOf({
    kubeconfig: simulator.kubeconfig({ namespace: 'shop' }),
    more: KUBECONFIG_MORE,
  });
  env = { KUBECONFIG: `${join(folder, 'kubeconfig')}:${join(folder, 'more')}`, HOME: folder };
});

afterAll(() => simulator.close());

async function suggest(...words: readonly string[]): Promise<readonly string[]> {
  const { exitCode, stdout } = await runCli(['__complete', ...words], { env });
  expect(exitCode).toBe(0);
  return stdout.trimEnd().split('\n');
}

describe('__complete without a service', () => {
  it.each([
    [
      ['explain', ''],
      ['cart', 'checkout', ':4'],
    ],
    [
      ['pause', '-n', 'billing', ''],
      ['invoices', ':4'],
    ],
    [
      ['explain', 'billing/'],
      ['billing/invoices', ':4'],
    ],
  ])('completes the Scaler objects of the namespace: %j', async (words, expected) => {
    expect(await suggest(...words)).toEqual(expected);
  });

  it.each([
    [
      ['adopt', ''],
      ['hpa/web', ':4'],
    ],
    [['adopt', '-n', 'billing', ''], [':4']],
  ])('completes autoscalers to adopt: %j', async (words, expected) => {
    expect(await suggest(...words)).toEqual(expected);
  });

  it('completes the contexts of the kubeconfig', async () => {
    expect(await suggest('status', '--context', 's')).toEqual(expect.arrayContaining(['staging', ':4']));
    expect(await suggest('status', '--context', 'p')).toEqual(['production', ':4']);
  });
});
