import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import { type Simulator, startSimulator } from '../../../src/simulator/simulator.js';
import type { JsonObject } from '../../../src/simulator/kinds/json.js';
import type { Clock } from '../../../src/units/clock.js';
import { scalerDefinition } from '../../support/scaler-definition.js';
import { type Ran, folderOf, runCli } from '../fake-io.js';

const MANY = Array.from({ length: 7 }, (_, index) => ({
  namespace: 'many',
  name: `zz-${index}`,
  replicas: 1,
}));

let simulator: Simulator;
let env: Readonly<Record<string, string>>;

beforeAll(async () => {
  simulator = await startSimulator({
    clock: SYSTEM_CLOCK,
    workloads: [
      { namespace: 'shop', name: 'web', replicas: 1 },
      { namespace: 'shop', name: 'limited', replicas: 1, containers: [{ name: 'app', cpuLimit: '1' }] },
      {
        namespace: 'shop',
        name: 'bare',
        replicas: 1,
        containers: [{ name: 'app', cpuRequest: '1' }, { name: 'proxy' }, { name: 'log' }],
      },
      {
        namespace: 'shop',
        name: 'zero',
        replicas: 1,
        containers: [
          { name: 'app', cpuRequest: '0', cpuLimit: '1' },
          { name: 'proxy', cpuLimit: '0' },
        ],
      },
      { kind: 'Rollout', namespace: 'shop', name: 'canary', replicas: 1 },
      { kind: 'StatefulSet', namespace: 'shop', name: 'search', replicas: 1 },
      ...MANY,
    ],
  });
  env = {
    KUBECONFIG: join(folderOf({ kubeconfig: simulator.kubeconfig({ namespace: 'shop' }) }), 'kubeconfig'),
  };
});

afterAll(() => simulator.close());

function runNew(...argv: readonly string[]): Promise<Ran> {
  return runCli(['new', '--max', '5', ...argv], { env });
}

describe('new, with a cluster', () => {
  it('has no warning for a workload with requests, and the namespace of the kubeconfig', async () => {
    const { exitCode, stdout, stderr } = await runNew('web', '--memory-percent', '80');

    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toContain('  namespace: shop #');
  });

  it('names the containers without the request that a percentage needs, and the line to add', async () => {
    const { exitCode, stdout, stderr } = await runNew('bare');

    expect(exitCode).toBe(0);
    expect(stdout).toContain('name: bare');
    expect(stderr).toContain(
      'promscaler: warning: deployment shop/bare: containers proxy, log have no cpu request',
    );
    expect(stderr).toContain('resources: { requests: { cpu: 250m } }');
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  it('names containers whose requests are all 0, of which there is no percentage', async () => {
    const { stderr } = await runNew('zero');

    expect(stderr).toMatch(
      /^promscaler: warning: deployment shop\/zero: containers app, proxy have a cpu request of 0, but a target in percent of the cpu requests needs more; add "resources: /,
    );
  });

  it('requires no request that no metric needs, and accepts a limit instead', async () => {
    const queried = await runNew('bare', '--query', 'x', '--value', '1');
    const limited = await runNew('limited');
    const memory = await runNew('limited', '--memory-percent', '80');

    expect([queried.stderr, limited.stderr]).toEqual(['', '']);
    expect(memory.stderr).toContain('container app has no memory request');
  });

  it.each([
    [['wbe'], 'deployment shop/wbe does not exist; did you mean "web"?'],
    [
      ['search'],
      'deployment shop/search does not exist, but statefulset shop/search exists: use statefulset/search\n',
    ],
    [
      ['sts/bare'],
      'statefulset shop/bare does not exist, but deployment shop/bare exists: use deployment/bare\n',
    ],
    [['-n', 'many', 'x'], 'existing deployments: zz-0, zz-1, zz-2, zz-3, zz-4 and 2 more'],
    [['-n', 'nowhere', 'web'], 'deployment nowhere/web does not exist: namespace nowhere has no deployments'],
    [['Foo.example.com/web'], 'the API server has no kind "Foo" in the API group example.com'],
  ])('prints %j with a warning: %s', async (argv, sentence) => {
    const { exitCode, stdout, stderr } = await runNew(...argv);

    expect(exitCode).toBe(0);
    expect(stdout).toContain('kind: Scaler');
    expect(stderr).toContain(`promscaler: warning: `);
    expect(stderr).toContain(sentence);
  });

  it.each(['rollout.argoproj.io/canary', 'ROLLOUTS.v1beta9.argoproj.io/canary', 'ro/canary'])(
    'finds %s as kubectl names it',
    async (target) => {
      const { exitCode, stdout, stderr } = await runNew(target);

      expect([exitCode, stderr]).toEqual([0, '']);
      expect(stdout).toContain('kind: Rollout\n');
    },
  );

  it('finds a kind that only the cluster knows', async () => {
    const { exitCode, stdout, stderr } = await runNew('horizontalpodautoscalers.autoscaling/x');
    const wrong = await runNew('rolout.argoproj.io/canary');

    expect(exitCode).toBe(0);
    expect(stdout).toContain('kind: HorizontalPodAutoscaler\n');
    expect(stderr).toContain('horizontalpodautoscaler shop/x has no scale subresource');
    expect(wrong).toMatchObject({ exitCode: 2, stdout: '' });
    expect(wrong.stderr).toContain('did you mean "Rollout"?');
  });

  it('warns about an HPA for the same workload, but not for another kind with that name', async () => {
    const hpa = (name: string, kind: string): void => {
      simulator.addObject({
        apiVersion: 'autoscaling/v2',
        kind: 'HorizontalPodAutoscaler',
        metadata: { namespace: 'many', name },
        spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind, name: 'zz-1' }, maxReplicas: 3 },
      });
    };
    hpa('other', 'StatefulSet');
    const before = await runNew('-n', 'many', 'zz-1');
    hpa('mine', 'Deployment');
    const { exitCode, stderr } = await runNew('-n', 'many', 'zz-1');

    expect([before.stderr, exitCode]).toEqual(['', 0]);
    expect(stderr).toContain(
      'nothing scales deployment many/zz-1: HorizontalPodAutoscaler many/mine has the same target, but no desired replicas',
    );
  });

  it('warns about a Scaler object for the same workload of another name that is not in dry run, and about one of the same name', async () => {
    const scaler = (name: string, spec: JsonObject): void => {
      simulator.addObject({
        apiVersion: 'promscaler.dev/v1',
        kind: 'Scaler',
        metadata: { namespace: 'many', name },
        spec: { scaleTargetRef: { name: 'zz-2' }, ...spec },
      });
    };
    simulator.addObject(scalerDefinition());
    scaler('compared', { dryRun: true });
    scaler('zz-2', {});
    const same = await runNew('-n', 'many', 'zz-2');
    const { exitCode, stderr } = await runNew('-n', 'many', 'zz-2', '--name', 'second');

    expect([same.stderr, exitCode]).toEqual([
      'promscaler: warning: Scaler many/zz-2 exists: `kubectl apply` of this document replaces its metrics and bounds. To scale another workload, use --name\n',
      0,
    ]);
    expect(stderr).toBe(
      'promscaler: warning: Scaler many/zz-2 also scales deployment many/zz-2: while both exist, promscaler patches the target for neither of the two scalers. Delete one of the two, or set spec.dryRun: true in one of them\n',
    );
  });

  it('warns about a ReplicaSet that a Deployment owns', async () => {
    const [owned] = simulator.listObjects('apps/replicasets', 'shop');

    const { stderr } = await runNew(`rs/${owned?.metadata.name ?? ''}`);

    expect(stderr).toMatch(/is controlled by deployment shop\/\w+: scale the deployment instead/);
  });

  it('sends no request with --offline, but uses the namespace of the kubeconfig', async () => {
    const before = simulator.requests().length;

    const { exitCode, stdout, stderr } = await runNew('bare', '--offline');

    expect([exitCode, stderr, simulator.requests().length]).toEqual([0, '', before]);
    expect(stdout).toContain('  namespace: shop #');
  });

  it('only reads', async () => {
    await runNew('bare');

    expect(new Set(simulator.requests().map(({ method }) => method))).toEqual(new Set(['GET']));
  });
});

describe('new, without an answer from the cluster', () => {
  it('reports in one line that nothing listens, and continues', async () => {
    const gone = await startSimulator({ clock: SYSTEM_CLOCK });
    const directory = folderOf({ kubeconfig: gone.kubeconfig() });
    await gone.close();

    const ran = await runCli(['new', 'web', '--max', '5'], {
      env: { KUBECONFIG: join(directory, 'kubeconfig') },
    });

    expect(ran.exitCode).toBe(0);
    expect(ran.stdout).toContain('kind: Scaler');
    expect(ran.stderr).toMatch(/^promscaler: warning: the workload was not checked: .*ECONNREFUSED.*\n$/);
  });

  it.each([
    ['there is no kubeconfig', null, 'does not exist'],
    ['the kubeconfig cannot be read', '{', 'not valid YAML'],
    ['the kubeconfig has no context', '{}', 'no current-context is set'],
  ])('reports in one line that %s', async (_, text, sentence) => {
    const directory = folderOf(text === null ? {} : { kubeconfig: text });

    const ran = await runCli(['new', 'web', '--max', '5'], {
      env: { KUBECONFIG: join(directory, 'kubeconfig') },
    });

    expect(ran.exitCode).toBe(0);
    expect(ran.stdout).toContain('  namespace: default #');
    expect(ran.stderr).toMatch(/^promscaler: warning: the cluster was not checked: .*\n$/);
    expect(ran.stderr).toContain(sentence);
  });

  it('reports in one line that it is not authorized', async () => {
    const rbac = { token: { user: 'me', rules: [] } };
    const closed = await startSimulator({ clock: SYSTEM_CLOCK, rbac });
    const directory = folderOf({ kubeconfig: closed.kubeconfig() });

    const ran = await runCli(['new', 'web', '--max', '5'], {
      env: { KUBECONFIG: join(directory, 'kubeconfig') },
    });
    await closed.close();

    expect(ran.exitCode).toBe(0);
    expect(ran.stderr).toMatch(/^promscaler: warning: the workload was not checked: .*401 Unauthorized.*\n$/);
    expect(ran.stderr).not.toContain('token');
  });

  it('waits 5 seconds for a cluster that hangs, and continues', async () => {
    const hanging = await startSimulator({ clock: SYSTEM_CLOCK });
    hanging.stallAll();
    const directory = folderOf({ kubeconfig: hanging.kubeconfig() });
    const waits: number[] = [];
    const clock: Clock = {
      ...SYSTEM_CLOCK,
      after: (ms, callback) => {
        waits.push(ms);
        // Discovery, which answers, also has this deadline.
        return SYSTEM_CLOCK.after(ms / 10, callback);
      },
    };

    const kubeconfig = { KUBECONFIG: join(directory, 'kubeconfig') };
    const web = await runCli(['new', 'web', '--max', '5'], { env: kubeconfig, clock });
    const rollout = await runCli(['new', 'ro/web', '--max', '5'], { env: kubeconfig, clock });
    await hanging.close();

    expect([web.exitCode, rollout.exitCode]).toEqual([0, 0]);
    const line = /^promscaler: warning: the workload was not checked: .*timeout after 5000 ms\n$/;
    expect([web.stderr, rollout.stderr]).toEqual([expect.stringMatching(line), expect.stringMatching(line)]);
    expect(rollout.stdout).toContain('kind: Rollout\n');
    expect(waits).toContain(5000);
  });
});
