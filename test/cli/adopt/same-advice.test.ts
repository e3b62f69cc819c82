import { describe, expect, it } from '@jest/globals';
import { SCALED_OBJECTS } from '../../../src/cli/demo/documents.js';
import { until } from '../../support/until.js';
import { send } from '../../simulator/cluster.js';
import { runCli } from '../fake-io.js';
import { AdoptFixture, HPA } from './adopt-fixture.js';

const HPA_PATH = '/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers';
const SCALED_OBJECT_PATH = '/apis/keda.sh/v1alpha1/namespaces/shop/scaledobjects/web';
const AMBIGUOUS = {
  type: 'ScalingActive',
  status: 'False',
  reason: 'AmbiguousSelector',
  message: 'pods by selector app=web are controlled by multiple HPAs',
};

/** Runs each command that prints advice about the scaler. */
async function outputsOf(fixture: AdoptFixture): Promise<Readonly<Record<string, string>>> {
  const { clock } = fixture.cluster;
  const textOf = async (ran: ReturnType<typeof runCli>): Promise<string> => {
    const { stdout, stderr } = await ran;
    return stdout + stderr;
  };
  const doctor = ['doctor', 'shop/web', '--config', 'promscaler.yaml'];
  return {
    explain: await textOf(runCli(['explain', 'shop/web', '--url', fixture.url()], { clock })),
    doctor: await textOf(runCli(doctor, { cwd: fixture.service.folder, clock })),
    report: await textOf(fixture.run('--report')),
    switch: await textOf(fixture.run('--switch', '--force')),
  };
}

/** Returns the `adopt` commands that the outputs advise, without those that only report. */
function stepsIn(outputs: Readonly<Record<string, string>>): readonly string[] {
  const advised = /promscaler (adopt \S+ -n shop --(?:switch|undo)(?: --force)?)/g;
  return [...new Set(Object.values(outputs).flatMap((text) => [...text.matchAll(advised)]))].map(
    ([, step]) => step ?? '',
  );
}

async function refusedOf(fixture: AdoptFixture, steps: readonly string[]): Promise<readonly string[]> {
  const { folder: cwd, env, cluster } = fixture;
  const refused: string[] = [];
  for (const step of steps) {
    const args = [...step.split(' '), '--preview', '--url', fixture.url()];
    const { exitCode, stderr } = await runCli(args, { cwd, env, clock: cluster.clock });
    if (exitCode !== 0) refused.push(`${step}: ${stderr}`);
  }
  return refused;
}

/** Waits for the state of the scaler, which `explain` prints. */
const inState = (fixture: AdoptFixture, name: string): Promise<void> =>
  until(async () => {
    const response = await fetch(`${fixture.url()}/api/v1/scalers/shop/web`);
    return ((await response.json()) as { readonly state: { readonly name: string } }).state.name === name;
  }, name);

async function createSecondHpa(fixture: AdoptFixture): Promise<void> {
  const { simulator } = fixture.cluster;
  const metadata = { name: 'second', namespace: 'shop' };
  await send(simulator, 'POST', HPA_PATH, { body: { ...HPA, metadata } });
}

/** Stops the controller, and gives both HPAs the status that the controller of Kubernetes sets. */
async function twoHpas(fixture: AdoptFixture): Promise<void> {
  await fixture.start();
  await fixture.controller.stop();
  await createSecondHpa(fixture);
  for (const name of ['web', 'second'])
    await send(fixture.cluster.simulator, 'PATCH', `${HPA_PATH}/${name}/status`, {
      body: { status: { conditions: [AMBIGUOUS] } },
    });
  await inState(fixture, 'NoAutoscaler');
}

/** A dry run next to a ScaledObject that is paused in KEDA, so that KEDA deletes its HPA. */
async function pausedInKeda(fixture: AdoptFixture, annotations: Readonly<Record<string, string>>) {
  const { simulator } = fixture.cluster;
  simulator.addObject(SCALED_OBJECTS);
  simulator.addObject({
    apiVersion: 'keda.sh/v1alpha1',
    kind: 'ScaledObject',
    metadata: { name: 'web', namespace: 'shop' },
    spec: {
      scaleTargetRef: { name: 'web' },
      minReplicaCount: 2,
      maxReplicaCount: 20,
      triggers: [
        {
          type: 'prometheus',
          metadata: { serverAddress: 'http://prometheus', query: 'sum(load)', threshold: '10' },
        },
      ],
    },
  });
  const controller = true;
  const ownerReferences = [
    { apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', name: 'web', uid: 'u', controller },
  ];
  await send(simulator, 'PATCH', `${HPA_PATH}/web`, { body: { metadata: { ownerReferences } } });
  fixture.name = 'scaledobject/web';
  await fixture.start();
  await send(simulator, 'PATCH', SCALED_OBJECT_PATH, { body: { metadata: { annotations } } });
  await send(simulator, 'DELETE', `${HPA_PATH}/web`);
}

const PAUSES = { 'autoscaling.keda.sh/paused': 'true', 'autoscaling.keda.sh/paused-replicas': '4' };
const END_IN_KEDA =
  'kubectl annotate -n shop scaledobject web autoscaling.keda.sh/paused- autoscaling.keda.sh/paused-replicas-';
const DELETE_SECOND = 'kubectl delete -n shop hpa second';

/** A situation, what helps in it, and the outputs that cannot know that but name the one that does. */
const SITUATIONS: readonly {
  readonly what: string;
  readonly set: (fixture: AdoptFixture) => Promise<void>;
  readonly helps: readonly string[];
  readonly refers?: Readonly<Record<string, string>>;
}[] = [
  { what: 'two HPAs of the target', set: twoHpas, helps: [DELETE_SECOND, 'kubectl delete -n shop hpa web'] },
  {
    what: 'a ScaledObject that is paused in KEDA',
    set: async (fixture) => {
      await pausedInKeda(fixture, PAUSES);
      await inState(fixture, 'NoAutoscaler');
    },
    helps: [END_IN_KEDA],
    refers: { explain: 'promscaler adopt scaledobject/web -n shop --report' },
  },
  {
    what: 'pauses of both the ScaledObject and the document',
    set: async (fixture) => {
      await pausedInKeda(fixture, PAUSES);
      await fixture.cluster.edit('web', { paused: true });
      await inState(fixture, 'Paused');
    },
    helps: [END_IN_KEDA],
    refers: { explain: 'promscaler adopt scaledobject/web -n shop --report' },
  },
  {
    what: 'an HPA that was deleted in the dry run',
    set: async (fixture) => {
      await fixture.start();
      await send(fixture.cluster.simulator, 'DELETE', `${HPA_PATH}/web`);
      await inState(fixture, 'NoAutoscaler');
    },
    helps: [],
  },
  {
    what: 'a second HPA after the switch',
    set: async (fixture) => {
      await fixture.start();
      await fixture.run('--switch');
      await createSecondHpa(fixture);
      await inState(fixture, 'Conflict');
    },
    helps: [DELETE_SECOND],
  },
];

describe('explain, doctor, --report and --switch', () => {
  it.each(SITUATIONS)('advise the step that helps, and none that is refused: $what', async (situation) => {
    const { set, helps, refers = {} } = situation;
    const fixture = await AdoptFixture.create();
    await set(fixture);

    const outputs = await outputsOf(fixture);

    for (const [output, text] of Object.entries(outputs))
      for (const step of refers[output] === undefined ? helps : [refers[output]])
        expect(`${output}: ${text}`).toContain(step);
    expect(await refusedOf(fixture, stepsIn(outputs))).toEqual([]);
  });

  it('says once what ends a pause in KEDA', async () => {
    const fixture = await AdoptFixture.create();
    await pausedInKeda(fixture, PAUSES);
    await inState(fixture, 'NoAutoscaler');

    const { stdout } = await fixture.run('--report');

    expect(stdout.split(END_IN_KEDA)).toHaveLength(2);
    expect(stdout).toContain('\nA switch would be refused now for the same reason\n');
  });
});
