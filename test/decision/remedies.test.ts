import { describe, expect, it } from '@jest/globals';
import { remediesOf } from '../../src/decision/remedies.js';
import type { TargetFailure } from '../../src/decision/failing.js';
import type { TroubledScaler } from '../../src/decision/snippet.js';
import { runCli } from '../cli/fake-io.js';
import { ManualClock } from '../support/manual-clock.js';
import { NAMED, named, read, remediesFor, serveStates, url } from './remedies-fixture.js';

const ROLLOUT = { target: { kind: 'Rollout', name: 'web' } };
const WORKLOAD =
  'Set apiVersion and kind of spec.scaleTargetRef to those of a workload that has replicas, such as a Deployment or StatefulSet (apps/v1): kubectl get -A deployment,statefulset';
const GRAPH = 'https://prometheus.example.com/graph?g0.expr=q';

/** Returns the failure to read a target that does not exist, with more facts. */
const missing = (facts: Partial<TargetFailure> = {}): TargetFailure => ({
  absence: 'missing',
  suggestion: null,
  unusableKind: null,
  ...facts,
});

describe('what to do about the state of a scaler', () => {
  serveStates();

  it('exists for each state that a person must end, and for no other', async () => {
    for (const { name } of NAMED) {
      const scaler = (await read(name)) as TroubledScaler & { readonly state: { readonly severity: string } };
      const needsSomebody = ['cannot-follow', 'held'].includes(scaler.state.severity);

      expect([name, scaler.state.name, remediesOf(scaler).length > 0]).toEqual([
        name,
        scaler.state.name,
        needsSomebody,
      ]);
    }
  });

  it('is the query of a scaler without series at 0, 1 replica, and nothing if there is no work', async () => {
    expect(await remediesFor('at 0 without series, which the document reads as 0')).toEqual([
      expect.stringMatching(/^Run doctor to find the fix: promscaler doctor shop\/s\d+ /),
      'Try the query of queue in Prometheus: q',
      expect.stringMatching(
        /^If only the pods of the workload expose the metric, keep 1 replica\. In .*: 1$/,
      ),
      expect.stringMatching(/^To scale to 0 again, query work that waits outside of the pods/),
      'If no series means that there is no work, no action is needed. A query that returns 0 instead ends this state',
    ]);
    expect(await remediesFor('no series, which the document reads as 0')).toEqual([
      expect.stringMatching(/^Run doctor/),
      'Try the query of queue in Prometheus: q',
      expect.stringMatching(/^If no series means/),
    ]);
  });

  it('is no patch of the document while its newest version is rejected: the maximum is raised with the correction', async () => {
    const rejection = { code: 'query-syntax', file: 'scalers.promscaler.dev/web', line: null };

    expect(await remediesFor('more than the maximum', { generation: 3, rejections: [rejection] })).toEqual([
      expect.stringMatching(/^Correct the document, and apply it again: kubectl edit -n shop /),
      'Raise spec.maxReplicas: 6 replicas are recommended, in the corrected document',
    ]);
  });

  it.each([
    [2, 2],
    [undefined, 1],
  ])('for a target set to 0 with minReplicas %p, is %i replicas', async (minReplicas, count) => {
    const changes = { document: { spec: { minReplicas } }, generation: 3 };

    expect(await remediesFor('set to 0 by a person', changes)).toEqual([
      `Start the target, which enables scaling again: kubectl scale -n shop deployment/${named('set to 0 by a person')} --replicas=${count}`,
    ]);
  });

  it('is the end of a pause and that of the dry run, if both prevent changes', async () => {
    const what = 'a pause at a fixed count in dry run';
    const document = { spec: { dryRun: true } };
    const resume = `End the pause: promscaler resume shop/${named(what)}`;

    expect(await remediesFor(what, { document, generation: 3 })).toEqual([
      resume,
      `Apply the decisions: kubectl patch -n shop scalers.promscaler.dev ${named(what)} --type=merge -p '{"spec":{"dryRun":false}}'`,
    ]);
    expect(await remediesFor(what)).toEqual([
      resume,
      'Start the service without --dry-run to apply the decisions',
    ]);
    expect(await remediesFor(what, { dryRun: false })).toEqual([resume]);
  });

  it('is doctor where the service runs, then the query of each metric without a value', async () => {
    expect(
      await remediesFor('no series of one metric, and the other wants more', {
        doctor: 'kubectl exec -n monitoring pod -- promscaler doctor shop/web',
      }),
    ).toEqual([
      'Run doctor to find the fix: kubectl exec -n monitoring pod -- promscaler doctor shop/web',
      'Try the query of queue in Prometheus: q',
    ]);
  });

  it('links the query, with a value for each variable, to the UI of its data source', async () => {
    const queries = [{ path: 'spec.metrics[1]', query: 'q{pod=~"web-.*"} + 1', graphUrl: GRAPH }];
    const [, remedy] = remediesOf({
      ...(await read(named('no series of one metric, and the other wants more'))),
      queries,
    });

    expect(remedy?.snippet).toEqual({ kind: 'query', text: 'q{pod=~"web-.*"} + 1', graphUrl: GRAPH });
  });

  it('is the request that the containers of a metric lack, and not its query, which is answered', async () => {
    const error = 'containers app and cache request no memory (pod web-0 and 1 more)';
    const metrics = [
      { metric: 'memory', error },
      { metric: 'queue', error: 'no series' },
    ];
    const queries = ['up', 'sum(q)'].map((query, index) => ({
      path: `spec.metrics[${index}]`,
      query,
      graphUrl: null,
    }));

    expect(await remediesFor('no series', { metrics, queries, doctor: 'kubectl exec' })).toEqual([
      `Set a memory request that fits the workload, also in its manifest: kubectl set resources deployment/${named('no series')} -n shop -c app,cache --requests=memory=256Mi`,
      'Run doctor to find the fix: kubectl exec',
      'Try the query of queue in Prometheus: sum(q)',
    ]);
    expect((await remediesFor('no series', { metrics, ...ROLLOUT, doctor: 'kubectl exec' }))[0]).toBe(
      'Run doctor to find the fix: kubectl exec',
    );
  });

  it('is nodes for pods without one, and what keeps them from running for others', async () => {
    const unscheduled = (why: string) => [
      {
        type: 'TargetReached',
        status: 'False',
        reason: 'Unschedulable',
        message: `1 of 5 pods are ready: 2 unschedulable because of ${why}, 2 not ready`,
      },
    ];
    const events =
      'kubectl get -n shop events --field-selector=reason=FailedScheduling --sort-by=.lastTimestamp';
    const edit = `kubectl edit -n shop deployment/${named('no series')}`;
    const scaler = {
      ...(await read(named('no series'))),
      state: { name: 'PodsNotReady' as const, cause: null },
    };

    const commandsFor = (why: string) =>
      remediesOf({ ...scaler, conditions: unscheduled(why) }).map(({ snippet }) => snippet?.text);

    expect(commandsFor('cpu, memory').slice(0, 3)).toEqual(['kubectl get nodes', edit, events]);
    expect(commandsFor('nvidia.com/gpu').slice(0, 3)).toEqual(['kubectl get nodes', edit, events]);
    expect(commandsFor('taints').slice(0, 2)).toEqual([events, edit]);
    expect(remediesOf({ ...scaler, conditions: unscheduled('memory') })[1]?.text).toBe(
      'If no node can be added, lower the memory requests of the pods, which restarts the pods',
    );
    expect(remediesOf({ ...scaler, conditions: [] })[0]?.snippet?.text).toBe(
      'kubectl get -n shop events --sort-by=.lastTimestamp',
    );
  });

  it('is the kind for a target of which only another kind exists', async () => {
    const what = NAMED.find(({ state }) => state === 'NoTarget')?.what ?? '';
    const target = { kind: 'Deployment', name: 'cart' };
    const targetFailure = missing({ suggestion: { kind: 'StatefulSet', name: 'cart' } });

    expect((await remediesFor(what, { targetFailure, target, generation: 1, name: 'web' }))[0]).toBe(
      `Correct the kind of the target: kubectl patch -n shop scalers.promscaler.dev web --type=merge -p '{"spec":{"scaleTargetRef":{"kind":"StatefulSet"}}}'`,
    );
    expect((await remediesFor(what, { targetFailure, target }))[0]).toMatch(
      /^Correct the kind of the target\. In the file of .*, set: spec\.scaleTargetRef\.kind: StatefulSet$/,
    );
  });

  it.each([
    ['the cluster does not serve batch', { group: 'batch', isGroupServed: false }, WORKLOAD],
    ['batch has no such kind', { group: 'batch', isGroupServed: true }, WORKLOAD],
    ['the core group has no such kind', { group: '', isGroupServed: true }, WORKLOAD],
    ['it has no replicas', { group: null, isGroupServed: true }, WORKLOAD],
    [
      'the cluster does not serve argo.io',
      { group: 'argo.io', isGroupServed: false },
      'Install the CRDs of argo.io, or set apiVersion and kind of spec.scaleTargetRef to those of the workload: kubectl api-resources',
    ],
    [
      'argoproj.io has no such kind',
      { group: 'argoproj.io', isGroupServed: true },
      'Set apiVersion and kind of spec.scaleTargetRef to those of a workload of the API group argoproj.io, or of another API group: kubectl api-resources --api-group=argoproj.io',
    ],
  ])(
    'for a kind that cannot be a target, is CRDs only if they can add the kind: %s',
    async (_, unusableKind, remedy) => {
      const what = NAMED.find(({ state }) => state === 'NoTarget')?.what ?? '';
      const target = { kind: 'CronJob', name: 'search' };

      expect(await remediesFor(what, { targetFailure: missing({ unusableKind }), target })).toEqual([remedy]);
    },
  );

  it('is the Deployment that owns the ReplicaSet of the document', async () => {
    const what = NAMED.find(({ state }) => state === 'NoTarget')?.what ?? '';
    const suggestion = { kind: 'Deployment', name: 'shop-web' };
    const targetFailure = missing({ absence: null, suggestion });

    expect((await remediesFor(what, { targetFailure }))[0]).toMatch(
      /^Correct the kind and name of the target\. In .*, set: spec\.scaleTargetRef: \{ kind: Deployment, name: shop-web \}$/,
    );
  });

  it('is the closest name for a target that does not exist, as an edit or a patch', async () => {
    const what = NAMED.find(({ state }) => state === 'NoTarget')?.what ?? '';
    const targetFailure = missing({ suggestion: { kind: null, name: 'checkout' } });
    const [create = ''] = await remediesFor(what);
    expect(create).toMatch(
      / or correct spec\.scaleTargetRef or the namespace: kubectl get -A deployment,statefulset$/,
    );

    expect(await remediesFor(what, { targetFailure })).toEqual([
      expect.stringMatching(
        /^Correct the name of the target\. In the file of .*, set: spec\.scaleTargetRef\.name: checkout$/,
      ),
      create,
    ]);
    expect(await remediesFor(what, { targetFailure, generation: 1, name: 'web' })).toEqual([
      `Correct the name of the target: kubectl patch -n shop scalers.promscaler.dev web --type=merge -p '{"spec":{"scaleTargetRef":{"name":"checkout"}}}'`,
      create,
    ]);
  });

  it('is the workload again, or no scaler, for a target that was deleted, and no rename', async () => {
    const what = NAMED.find(({ state }) => state === 'NoTarget')?.what ?? '';
    const target = { kind: 'Deployment', name: 'payments-v1' };
    const absent = (absence: 'deleted' | 'missing' | null) => ({
      targetFailure: missing({ absence }),
      target,
      name: 'pay',
    });
    const removal =
      'If the workload is no longer needed, delete shop/pay: kubectl delete -n shop scalers.promscaler.dev pay';

    expect(await remediesFor(what, { ...absent('deleted'), generation: 1 })).toEqual([
      'Create the Deployment payments-v1 again',
      removal,
    ]);
    expect((await remediesFor(what, { ...absent('missing'), generation: 1 }))[1]).toBe(removal);
    expect((await remediesFor(what, absent('deleted')))[1]).toMatch(
      /^If the workload is no longer needed, remove shop\/pay from /,
    );
    // The target exists.
    expect(await remediesFor(what, { ...absent(null), generation: 1 })).toHaveLength(1);
  });

  it('is a pause for an annotation that was meant as one, and its removal', async () => {
    const ignored = (clause: string) => ({
      name: 'web',
      target: { kind: 'Deployment', name: 'web' },
      conditions: [
        {
          type: 'Held',
          status: 'False',
          reason: 'AnnotationIgnored',
          message: `the decisions of the version in effect are applied; ${clause}`,
        },
      ],
    });
    const ofTarget = ignored(
      'annotation promscaler.dev/pause of deployment shop/web has no effect: did you mean promscaler.dev/paused? To pause: promscaler pause shop/web',
    );
    const unknown = ignored(
      'annotations promscaler.dev/team, promscaler.dev/tier of Scaler shop/web have no effect: unknown annotation',
    );

    expect(await remediesFor('calm', ofTarget)).toEqual([
      'If a pause was meant, keep 4 replicas for 30 minutes: promscaler pause shop/web --for 30m',
      'Remove the annotation promscaler.dev/pause, which has no effect: kubectl annotate -n shop deployment web promscaler.dev/pause-',
    ]);
    expect(await remediesFor('calm', { ...unknown, generation: 1 })).toEqual([
      'Remove the annotations that have no effect: kubectl annotate -n shop scalers.promscaler.dev web promscaler.dev/team- promscaler.dev/tier-',
    ]);
    expect(await remediesFor('calm', { ...unknown, file: 'web.yaml' })).toEqual([
      'Remove the annotations that have no effect, from web.yaml',
    ]);
  });

  it('is the recommended count after a value that was wrong, such as one of a wrong unit', async () => {
    const decision = { limits: [{ limit: 'stabilization', to: 2147483647, reason: '' }] };
    expect(await remediesFor('a stabilization window', { name: 'web', decision })).toEqual([
      'If the earlier recommendation was wrong, set 2 replicas for 30 minutes (pauses scaling): promscaler pause shop/web --replicas 2 --for 30m',
    ]);
    expect(await remediesFor('a stabilization window')).toEqual([]);
  });

  it('is another selectPolicy in a direction that the document disables', async () => {
    const lines = await remediesFor('scale-downs that the document disables', { file: 'web.yaml' });

    const line = 'Allow scale-downs. In web.yaml, set: spec.behavior.scaleDown.selectPolicy: Max';
    expect(lines).toEqual([line]);
  });

  it('quotes for the shell what is not plain', async () => {
    const [line] = await remediesFor('no series', { name: "a'b" });

    expect(line).toContain(String.raw`promscaler doctor 'shop/a'\''b' `);
  });

  it('is the end of what explain prints', async () => {
    const name = named('no series of one metric, and the other wants more');
    const { stdout } = await runCli(['explain', `shop/${name}`, '--url', url()], {
      clock: new ManualClock(),
    });

    expect(stdout).toContain(`
What to do
  Run doctor to find the fix:
    promscaler doctor shop/${name} --config promscaler.yaml
  Try the query of queue in Prometheus: q
    https://prometheus.example.com/main/graph?g0.expr=q&g0.tab=0&g0.range_input=1h
`);
  });
});
