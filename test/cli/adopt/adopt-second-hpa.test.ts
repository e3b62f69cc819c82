import { beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../support/until.js';
import { send } from '../../simulator/cluster.js';
import { AdoptFixture, HPA } from './adopt-fixture.js';

const HPA_PATH = '/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers';
const OTHER = 'HPA shop/second scales deployment shop/web';

describe('adopt for a dry run whose HPA is gone, while a second HPA has the target', () => {
  let fixture: AdoptFixture;

  beforeEach(async () => {
    fixture = await AdoptFixture.create();
    await fixture.start();
    const { simulator } = fixture.cluster;
    await send(simulator, 'DELETE', `${HPA_PATH}/web`);
    await send(simulator, 'POST', HPA_PATH, {
      body: { ...HPA, metadata: { name: 'second', namespace: 'shop' } },
    });
    await reported('HorizontalPodAutoscaler shop/second and ');
  });

  async function reported(what: string): Promise<void> {
    await until(async () => (await fixture.run('--report')).stdout.includes(what), what);
  }

  it('reports that the second HPA scales the target, and proposes to adopt that one', async () => {
    const { stdout } = await fixture.run('--report');

    expect(stdout).toContain(`\nscaler shop/web is in dry run next to another autoscaler: ${OTHER}\n`);
    expect(stdout).toContain('\nCompare: promscaler adopt hpa/second -n shop --report');
    expect(stdout).not.toMatch(/nothing scales|^(?:Switch|Undo): /m);
  });

  it.each([
    ['--switch'],
    ['--switch', '--preview'],
    ['--switch', '--force'],
    ['--undo'],
    ['--undo', '--preview'],
  ])('names the second HPA at once, and changes nothing: %s %s', async (...args) => {
    const { exitCode, stdout, stderr } = await fixture.run(...args);

    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toContain(
      `${OTHER}. To adopt this autoscaler instead: promscaler adopt hpa/second -n shop --report`,
    );
    expect([fixture.hpa(), fixture.isDryRun()]).toEqual([null, true]);
  });

  it('says of the second HPA that --force is needed, and not that it has changed since an import', async () => {
    const maxReplicas = { spec: { maxReplicas: 19 } };
    await send(fixture.cluster.simulator, 'PATCH', `${HPA_PATH}/second`, { body: maxReplicas });
    fixture.name = 'hpa/second';
    const why =
      'scaler shop/web was not made from HPA shop/second: compare the metrics and bounds of the two';

    await reported(why);
    const report = await fixture.run('--report');
    const switched = await fixture.run('--switch');

    expect(report.stdout).toContain(`A switch would be refused now: ${why}; --force switches anyway\n`);
    expect(switched.stderr).toContain(`${why}. Nothing was changed; use --force to switch anyway`);
    expect(report.stdout + switched.stderr).not.toContain('has changed since it was imported');
    expect(report.stdout).toContain(
      'Note:    a new import of HPA shop/second would differ from scaler shop/web',
    );
  });
});

describe('adopt next to a second HPA of the target', () => {
  const BOTH =
    'HPA shop/web and HPA shop/second have the same target, and two HPAs of one target scale nothing. To keep HorizontalPodAutoscaler shop/web, delete HorizontalPodAutoscaler shop/second: kubectl delete -n shop hpa second';
  const createSecond = async ({ cluster }: AdoptFixture): Promise<void> => {
    await send(cluster.simulator, 'POST', HPA_PATH, {
      body: { ...HPA, metadata: { name: 'second', namespace: 'shop' } },
    });
  };

  it('warns in the first step, also if the scaler exists, and offers no switch', async () => {
    const fixture = await AdoptFixture.create();
    await createSecond(fixture);

    const created = await fixture.run('--adapter-config', 'adapter.yaml');
    const existing = await fixture.run();

    expect([created.exitCode, existing.exitCode]).toEqual([0, 0]);
    expect(created.stdout).toContain(`scaler shop/web created, in dry run: ${BOTH}`);
    expect(existing.stderr).toContain(`promscaler: warning: ${BOTH}`);
    expect(created.stdout + existing.stdout).not.toContain('Switch:');
  });

  it('after the switch proposes to delete or to adopt the second HPA, in each step', async () => {
    const fixture = await AdoptFixture.create();
    await fixture.start();
    await fixture.run('--switch');
    await createSecond(fixture);
    const dryRun = `kubectl patch -n shop scalers.promscaler.dev web --type=merge -p '{"spec":{"dryRun":true}}'`;
    const steps = `To adopt this autoscaler instead: ${dryRun}, then promscaler adopt hpa/second -n shop --report`;

    const texts = [];
    for (const step of [['--switch'], ['--switch', '--preview'], ['--undo']])
      texts.push((await fixture.run(...step)).stderr);
    fixture.name = 'hpa/second';
    const second = await fixture.run('--report');

    for (const text of texts) {
      expect(text).toContain(steps);
      expect(text).toContain('. To delete it: kubectl delete -n shop hpa second');
      expect(text).not.toContain('adopt hpa/web');
    }
    expect(second.stderr).toContain(`is not in dry run. Start the dry run first: ${dryRun}`);
  });
});
