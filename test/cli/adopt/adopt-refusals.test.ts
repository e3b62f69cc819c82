import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../src/simulator/kinds/json.js';
import { eventually } from '../../support/manual-clock.js';
import { until } from '../../support/until.js';
import { send } from '../../simulator/cluster.js';
import { runCli } from '../fake-io.js';
import { AdoptFixture, HPA } from './adopt-fixture.js';

const HPA_PATH = '/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers';

const TWO_HPAS =
  'HPA shop/web and HPA shop/second have the same target, and two HPAs of one target scale nothing. To keep HorizontalPodAutoscaler shop/web, delete HorizontalPodAutoscaler shop/second: kubectl delete -n shop hpa second; or to keep HorizontalPodAutoscaler shop/second, delete HorizontalPodAutoscaler shop/web: kubectl delete -n shop hpa web. Nothing was changed';

describe('adopt, as a usage error', () => {
  it.each([
    [
      ['deployment/web'],
      'deployment/web is not the name of an autoscaler: use hpa/NAME or scaledobject/NAME',
    ],
    [['hpa/'], 'hpa/ is not the name of an autoscaler'],
    [['hpa/web', '--switch', '--undo'], '--switch and --undo cannot be combined'],
    [['hpa/web', '--force'], '--force needs --switch'],
    [['hpa/web', '--report', '--preview'], '--preview cannot be combined with --report'],
    [['hpa/web', '--undo', '-f', 'x.yaml'], '--filename cannot be combined with --undo'],
    [['hpa/web', '--undo', '--save', 'x.yaml'], '--save needs --switch'],
    [['hpa/web', '-o', 'json'], '-o needs --report'],
  ])('rejects %j', async (args, message) => {
    const { exitCode, stderr } = await runCli(['adopt', ...args]);

    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
  });
});

describe('adopt', () => {
  let fixture: AdoptFixture;

  beforeEach(async () => {
    fixture = await AdoptFixture.create();
  });

  const changed = (): readonly boolean[] => [
    fixture.hpa() === null,
    fixture.scaler() !== null,
    fixture.isDryRun(),
  ];
  const NOT_STARTED = [false, false, false];
  const IN_DRY_RUN = [false, true, true];

  async function createSecondHpa(): Promise<void> {
    await send(fixture.cluster.simulator, 'POST', HPA_PATH, {
      body: { ...HPA, metadata: { name: 'second', namespace: 'shop' } },
    });
  }

  it('does not convert half of an HPA, and takes the completed document instead', async () => {
    const half = await fixture.run();

    expect(half.exitCode).toBe(1);
    expect(half.stderr).toContain('FILL IN the query of this External metric "load"');
    expect(half.stderr).toContain('promscaler import --dry-run - > web.yaml\n');
    expect(changed()).toEqual(NOT_STARTED);
    const { stdout: document } = await fixture.run('--adapter-config', 'adapter.yaml', '--preview');
    expect(changed()).toEqual(NOT_STARTED);
    writeFileSync(join(fixture.folder, 'web.yaml'), document.replace('dryRun: true', 'paused: true'));
    const { exitCode, stdout } = await fixture.run('-f', 'web.yaml');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('Paused:  spec.paused is true');
    expect(changed()).toEqual(IN_DRY_RUN);
  });

  it('does not take a document of another workload', async () => {
    const { stdout } = await fixture.run('--adapter-config', 'adapter.yaml', '--preview');
    writeFileSync(join(fixture.folder, 'web.yaml'), stdout.replaceAll('name: web', 'name: api'));

    const { exitCode, stderr } = await fixture.run('-f', 'web.yaml');

    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      'the target is deployment shop/api, but HPA shop/web scales deployment shop/web',
    );
    expect(changed()).toEqual(NOT_STARTED);
  });

  const putFile = async (name: string): Promise<void> => {
    const { stdout } = await fixture.run('--adapter-config', 'adapter.yaml', '--preview');
    const directory = join(fixture.service.folder, 'scalers');
    mkdirSync(directory, { recursive: true });
    const document = stdout
      .replace('  name: web', `  name: ${name}`)
      .replace('dryRun: true', 'dryRun: false');
    writeFileSync(join(directory, 'web.yaml'), document);
    await fixture.decided(1);
  };

  it('creates no object next to a file with the same name', async () => {
    await putFile('web');

    const { exitCode, stderr } = await fixture.run('--adapter-config', 'adapter.yaml');

    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      'scaler shop/web is a document in a file of the service, and takes precedence over an object with the same name. Nothing was created.',
    );
    expect(changed()).toEqual(NOT_STARTED);
  });

  it('starts a dry run next to a file with the same target, compares, and switches only without the file', async () => {
    await putFile('by-file');

    const { exitCode, stderr } = await fixture.run('--adapter-config', 'adapter.yaml');

    expect(exitCode).toBe(0);
    expect(stderr).toContain(
      'note: scaler shop/by-file, a document in a file of the service, has the same target as HPA shop/web. Delete this document from the files, or put it in dry run, before promscaler adopt hpa/web -n shop --switch',
    );
    expect(changed()).toEqual(IN_DRY_RUN);
    await fixture.compared(2);
    const refused = await fixture.run('--switch');
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain(
      'scaler shop/by-file also scales deployment shop/web. Correct spec.scaleTargetRef of scaler shop/by-file, delete this scaler, or put it in dry run in its file. Nothing was changed',
    );
    expect(changed()).toEqual(IN_DRY_RUN);
  });

  it('does nothing the second time, and before the start there is nothing to report, switch or undo', async () => {
    for (const flag of ['--report', '--switch', '--undo']) {
      const { exitCode, stderr } = await fixture.run(flag);
      expect(exitCode).toBe(1);
      expect(stderr).toContain(
        'no scaler is in dry run next to HPA shop/web. Start with promscaler adopt hpa/web',
      );
    }
    await fixture.start();
    const { generation } = fixture.scaler()?.metadata ?? {};

    const { exitCode, stdout } = await fixture.run('--adapter-config', 'adapter.yaml');

    expect(exitCode).toBe(0);
    expect(stdout).toContain(
      'scaler shop/web is already in dry run next to HPA shop/web; nothing was changed',
    );
    expect(fixture.scaler()?.metadata['generation']).toBe(generation);
  });

  it('says that a scaler of the same target was not made from the HPA', async () => {
    await fixture.start();
    expect((await fixture.run()).stderr).not.toContain('was not made from');
    await send(fixture.cluster.simulator, 'PATCH', '/apis/promscaler.dev/v1/namespaces/shop/scalers/web', {
      body: { metadata: { annotations: { 'promscaler.dev/adopted-from': null } } },
    });

    const { exitCode, stdout, stderr } = await fixture.run();
    const report = await fixture.run('--report');
    const switched = await fixture.run('--switch');

    expect(exitCode).toBe(0);
    expect(stderr).toContain(
      'note: scaler shop/web was not made from HPA shop/web, but has the same target. Compare the metrics and bounds of scaler and autoscaler before the switch. The switch needs --force\n',
    );
    expect(stdout).not.toContain('--switch');
    const why = 'scaler shop/web was not made from HPA shop/web: compare the metrics and bounds of the two';
    expect(report.stdout).toContain(`A switch would be refused now: ${why}; --force switches anyway\n`);
    expect(switched.stderr).toContain(`${why}. Nothing was changed; use --force to switch anyway`);
    expect(changed()).toEqual(IN_DRY_RUN);
  });

  it('refuses a scaler without dry run next to the HPA, with the command that starts the dry run', async () => {
    await fixture.start();
    await fixture.cluster.edit('web', { dryRun: false });
    const message = `promscaler: scaler shop/web has the same target as HPA shop/web, but is not in dry run. Start the dry run first: kubectl patch -n shop scalers.promscaler.dev web --type=merge -p '{"spec":{"dryRun":true}}'\n`;

    expect([(await fixture.run()).stderr, (await fixture.run('--switch')).stderr]).toEqual([
      message,
      message,
    ]);
  });

  it('creates no scaler for a workload that does not exist', async () => {
    await fixture.controller.stop();
    await send(fixture.cluster.simulator, 'PATCH', `${HPA_PATH}/web`, {
      body: { spec: { scaleTargetRef: { name: 'gone' } } },
    });

    const { exitCode, stderr } = await fixture.run('--adapter-config', 'adapter.yaml');

    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      'deployment shop/gone does not exist, so HPA shop/web scales nothing. Nothing was created. Create the workload, or delete HPA shop/web\n',
    );
    expect(changed()).toEqual(NOT_STARTED);
  });

  it('with --preview prints the steps, and changes nothing', async () => {
    await fixture.start();

    const first = await fixture.run('--switch', '--preview');
    await fixture.run('--switch');
    const second = await fixture.run('--undo', '--preview');

    expect(first.stdout).toContain(
      'HPA shop/web would be saved in hpa-shop-web.yaml and in scaler shop/web, and deleted\nthe dry run of scaler shop/web would end\n',
    );
    expect(second.stdout).toBe(
      'scaler shop/web would be put into dry run\nHPA shop/web would be created again\n',
    );
    expect(changed()).toEqual([true, true, false]);
  });

  it.each([
    [
      'another HPA on the target',
      async () => {
        await createSecondHpa();
        const desired = (): unknown => {
          const second = fixture.cluster.simulator.getObject(
            'autoscaling/horizontalpodautoscalers',
            'shop',
            'second',
          );
          return (second?.['status'] as JsonObject | undefined)?.['desiredReplicas'];
        };
        await eventually(() => Number(desired() ?? 0) > 0, 'the HPA to have desired replicas');
      },
      TWO_HPAS,
    ],
    [
      'another HPA on the target that scales nothing yet',
      async () => {
        await fixture.controller.stop();
        await createSecondHpa();
      },
      TWO_HPAS,
    ],
    [
      'another scaler on the target',
      async () => {
        fixture.cluster.apply('second', { scaleTargetRef: { name: 'web' } });
        await until(async () => {
          const { items } = (await (await fetch(`${fixture.url()}/api/v1/scalers`)).json()) as {
            readonly items: readonly { readonly name: string; readonly otherScaler: JsonObject | null }[];
          };
          const scalerOf = (other: JsonObject | null) =>
            (other?.['scaler'] as JsonObject | undefined)?.['name'];
          return items.some(({ name, otherScaler }) => name === 'web' && scalerOf(otherScaler) === 'second');
        }, 'the service to see both');
      },
      `scaler shop/second also scales deployment shop/web. Correct spec.scaleTargetRef of scaler shop/second, delete this scaler, or put it in dry run: kubectl patch -n shop scalers.promscaler.dev second --type=merge -p '{"spec":{"dryRun":true}}'. Nothing was changed`,
    ],
    [
      'a change of the HPA since it was imported',
      async () => {
        await send(fixture.cluster.simulator, 'PATCH', `${HPA_PATH}/web`, {
          body: { spec: { maxReplicas: 30 } },
        });
      },
      'HPA shop/web has changed since it was imported (spec.maxReplicas: 20 -> 30): make the same change to scaler shop/web. A file from which you apply the scaler needs the change, too, or a new import. Nothing was changed',
    ],
    [
      'a paused document',
      async () => {
        await fixture.cluster.edit('web', { paused: true });
        await eventually(
          () => fixture.cluster.status('web')['observedGeneration'] === 2,
          'the service to follow',
        );
      },
      'scaler shop/web has spec.paused: true. Remove this field first: ' +
        `kubectl patch -n shop scalers.promscaler.dev web --type=merge -p '{"spec":{"paused":null}}'. Nothing was changed`,
    ],
    [
      'a service that has stopped before it accepted the document',
      async () => {
        await fixture.service.stop();
        await fixture.cluster.edit('web', { maxReplicas: 19 });
      },
      'no HTTP server listens at this address',
    ],
    [
      'an HPA that a controller makes again',
      async () => {
        const owner = { apiVersion: 'x/v1', kind: 'App', name: 'shop', uid: 'u', controller: true };
        await send(fixture.cluster.simulator, 'PATCH', `${HPA_PATH}/web`, {
          body: { metadata: { ownerReferences: [owner] } },
        });
      },
      'HPA shop/web is owned by App shop, which would recreate the HPA: disable autoscaling in App shop',
    ],
  ])('does not switch with %s', async (_, prepare, message) => {
    await fixture.start();
    await prepare();

    const { exitCode, stderr } = await fixture.run('--switch');

    expect(exitCode).toBe(1);
    expect(stderr).toContain(message);
    expect(changed()).toEqual(IN_DRY_RUN);
  });

  it('says that ScaledObjects are not served without KEDA', async () => {
    fixture.name = 'scaledobject/web';

    const { exitCode, stderr } = await fixture.run();

    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      'ScaledObject shop/web: the API server does not serve scaledobjects (keda.sh/v1alpha1). Is KEDA installed?',
    );
  });

  it('names the permission that the user lacks', async () => {
    await fixture.start();
    fixture.cluster.simulator.faults.add({ verbs: ['delete'] }, { kind: 'forbid' });

    const { exitCode, stderr } = await fixture.run('--switch');

    expect(exitCode).toBe(1);
    expect(stderr).toContain('You need permission to delete horizontalpodautoscalers in namespace shop');
    expect(changed()).toEqual(IN_DRY_RUN);
  });
});
