import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { remediesOf } from '../../src/decision/remedies.js';
import type { TroubledScaler } from '../../src/decision/snippet.js';
import { createRecords } from '../../src/telemetry/records.js';
import { runCli } from '../cli/fake-io.js';
import { appOf, listen, type Listening } from '../cli/live-service.js';
import { shownQueries, type ShownQuery } from '../../src/prometheus/queries/compile-queries.js';
import type { Scaler } from '../../src/scaler/spec.js';
import { aSource } from '../support/builders.js';
import { ManualClock } from '../support/manual-clock.js';
import { STATE_CASES } from '../telemetry/state-cases.js';

/** A service with a data source `default` that has a UI. */
const SOURCES = new Map([['default', { ...aSource(), externalUrl: 'https://prometheus.example.com/main/' }]]);
const queriesOf = (scaler: Scaler): readonly ShownQuery[] => shownQueries(scaler, SOURCES);

const ROLLOUT = { target: { kind: 'Rollout', name: 'web' } };
const GRAPH = 'https://prometheus.example.com/graph?g0.expr=q';

const NAMED = STATE_CASES.map(([what, state, , make], index) => ({ what, state, make, name: `s${index}` }));

describe('what to do about the state of a scaler', () => {
  const records = createRecords(new ManualClock());
  let service: Listening;

  const read = async (name: string): Promise<TroubledScaler> =>
    (await (await fetch(`${service.url}/api/v1/scalers/shop/${name}`)).json()) as TroubledScaler;

  const named = (what: string): string => NAMED.find((one) => one.what === what)?.name ?? what;

  const remediesFor = async (
    what: string,
    fields: Partial<TroubledScaler> = {},
  ): Promise<readonly string[]> =>
    remediesOf({ ...(await read(named(what))), ...fields }).map(({ text, snippet }) =>
      snippet === null ? text : `${text}: ${snippet.text}`,
    );

  beforeAll(async () => {
    for (const { name, make } of NAMED) records.ledger.add(make(name));
    service = await listen(appOf(records.ledger, records, { queriesOf }));
  });

  afterAll(() => service.close());

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

  it('is no patch of the document while its newest version is rejected: the maximum is raised with the correction', async () => {
    const rejection = { code: 'query-syntax', file: 'scalers.promscaler.dev/web', line: null };

    expect(await remediesFor('more than the maximum', { generation: 3, rejections: [rejection] })).toEqual([
      expect.stringMatching(/^Correct the document, and apply it again: kubectl edit -n shop /),
      'Raise spec.maxReplicas: 6 replicas are recommended, in the corrected document',
    ]);
  });

  it('keeps 6 replicas, and is 6 replicas as the maximum in the file', async () => {
    const [meanwhile, edit] = remediesOf({
      ...(await read(named('more than the maximum'))),
      file: '/etc/promscaler/scalers/web.yaml',
    });

    expect(meanwhile?.snippet).toEqual({
      kind: 'command',
      text: expect.stringMatching(/^promscaler pause shop\/s\d+ --replicas 6 --for 30m$/),
    });
    expect(edit).toEqual({
      text: 'Raise spec.maxReplicas, to keep them for longer. In web.yaml, set',
      snippet: { kind: 'edit', text: 'maxReplicas: 6' },
    });
    expect((await remediesFor('more than the maximum')).at(-1)).toMatch(
      /for longer\. In the file of shop\/s\d+, set: maxReplicas: 6$/,
    );
  });

  it('is 6 replicas as a patch of the object', async () => {
    expect(await remediesFor('more than the maximum', { generation: 3 })).toEqual([
      expect.stringMatching(
        /^Raise .* recommended: kubectl patch -n shop scalers\.promscaler\.dev s\d+ --type=merge -p '\{"spec":\{"maxReplicas":6\}\}'$/,
      ),
    ]);
  });

  it('keeps at most twice the maximum, and only of a kind that can be paused', async () => {
    const what = 'more than the maximum';
    const { maxReplicas } = await read(named(what));

    const [many = '', raise] = await remediesFor(what, { recommendedReplicas: 5000 });
    const [other] = await remediesFor(what, ROLLOUT);
    const most = 2 * (maxReplicas ?? 0);
    expect(many).toContain(`--replicas ${most} `);
    expect(many).toContain(
      `Set ${most} of the 5000 recommended replicas now, twice the maximum, and keep them for 30 minutes: `,
    );
    expect(raise).toMatch(
      /^Raise spec.maxReplicas to the recommended count, if the metric is right\. .*: 5000$/,
    );
    expect(other).toMatch(/^See what the metrics recommend: promscaler explain shop\/s\d+$/);
    expect((await remediesFor('another client, at the maximum', ROLLOUT)).at(-1)).toMatch(
      /^Keep 4 replicas meanwhile\. In the file of shop\/s\d+, set: paused: true$/,
    );
  });

  it('is the query of maxReplicasFrom, not a higher maximum, if its ceiling is below the maximum', async () => {
    const queries = [{ path: 'spec.maxReplicasFrom', query: 'vacant', graphUrl: null }];
    const atMaximum = { document: { spec: { maxReplicas: 4 } }, queries };

    expect(await remediesFor('more than a ceiling', { queries })).toEqual([
      'Raise the value of spec.maxReplicasFrom: 6 replicas are recommended: vacant',
    ]);
    expect((await remediesFor('more than the maximum', atMaximum)).at(-1)).toMatch(
      /^Raise spec.maxReplicas, to keep them for longer\. /,
    );
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
      'Let doctor name the fix: kubectl exec -n monitoring pod -- promscaler doctor shop/web',
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
      'Let doctor name the fix: kubectl exec',
      'Try the query of queue in Prometheus: sum(q)',
    ]);
    expect((await remediesFor('no series', { metrics, ...ROLLOUT, doctor: 'kubectl exec' }))[0]).toBe(
      'Let doctor name the fix: kubectl exec',
    );
  });

  it('is nodes for pods without one, and what keeps them from running for others', async () => {
    const conditions = [{ type: 'TargetReached', status: 'False', reason: 'Unschedulable', message: '' }];
    const scaler = {
      ...(await read(named('no series'))),
      state: { name: 'PodsNotReady' as const, cause: null },
    };

    expect(remediesOf({ ...scaler, conditions })[0]?.snippet?.text).toBe(
      'kubectl get -n shop events --field-selector=reason=FailedScheduling --sort-by=.lastTimestamp',
    );
    expect(remediesOf({ ...scaler, conditions: [] })[0]?.snippet?.text).toBe(
      'kubectl get -n shop events --sort-by=.lastTimestamp',
    );
  });

  it('is the kind for a target of which only another kind exists', async () => {
    const what = NAMED.find(({ state }) => state === 'NoTarget')?.what ?? '';
    const message = 'does not exist; did you mean StatefulSet "cart"?';
    const conditions = [{ type: 'AbleToScale', status: 'False', reason: 'FailedGetScale', message }];

    expect((await remediesFor(what, { conditions, generation: 1, name: 'web' }))[0]).toBe(
      `Correct the kind of the target: kubectl patch -n shop scalers.promscaler.dev web --type=merge -p '{"spec":{"scaleTargetRef":{"kind":"StatefulSet"}}}'`,
    );
    expect((await remediesFor(what, { conditions }))[0]).toMatch(
      /^Correct the kind of the target\. In the file of .*, set: spec\.scaleTargetRef\.kind: StatefulSet$/,
    );
  });

  it('is the closest name for a target that does not exist, as an edit or a patch', async () => {
    const what = NAMED.find(({ state }) => state === 'NoTarget')?.what ?? '';
    const conditions = [
      {
        type: 'AbleToScale',
        status: 'False',
        reason: 'FailedGetScale',
        message: 'does not exist; did you mean "checkout"?',
      },
    ];
    const [create = ''] = await remediesFor(what);
    expect(create).toMatch(/ or correct spec\.scaleTargetRef or the namespace: kubectl get -A deployment$/);

    expect(await remediesFor(what, { conditions })).toEqual([
      expect.stringMatching(
        /^Correct the name of the target\. In the file of .*, set: spec\.scaleTargetRef\.name: checkout$/,
      ),
      create,
    ]);
    expect(await remediesFor(what, { conditions, generation: 1, name: 'web' })).toEqual([
      `Correct the name of the target: kubectl patch -n shop scalers.promscaler.dev web --type=merge -p '{"spec":{"scaleTargetRef":{"name":"checkout"}}}'`,
      create,
    ]);
  });

  it('is the deletion of the HPA that the conflict names', async () => {
    const [first] = await remediesFor(NAMED.find(({ state }) => state === 'Conflict')?.what ?? '');

    expect(first).toBe(
      'To keep this scaler, delete HorizontalPodAutoscaler shop/web: kubectl delete -n shop hpa web',
    );
  });

  it('is the deletion of the HPA, or a comparison in dry run, for an object whose conflict it is', async () => {
    const [first, second] = await remediesFor(NAMED.find(({ state }) => state === 'Conflict')?.what ?? '', {
      generation: 3,
      name: 'web',
    });

    expect(first).toMatch(/^To keep this scaler, delete HorizontalPodAutoscaler/);
    expect(second).toBe(
      `Or compare both first, in dry run: kubectl patch -n shop scalers.promscaler.dev web --type=merge -p '{"spec":{"dryRun":true}}'`,
    );
  });

  it.each([
    ['HorizontalPodAutoscaler', 'hpa/web'],
    ['ScaledObject', 'scaledobject/web'],
  ])('is adopt for an object in dry run next to a %s, which can be undone', async (kind, name) => {
    const lines = await remediesFor('a dry run next to another document', {
      generation: 3,
      otherScaler: { kind, namespace: 'shop', name: 'web' },
      document: { spec: { dryRun: true } },
    });

    expect(lines).toEqual([
      `Compare with ${kind} shop/web: promscaler adopt ${name} -n shop --report`,
      `Replace the ${kind} in one step, which adopt --undo reverts: promscaler adopt ${name} -n shop --switch`,
    ]);
  });

  it('is the end of the dry run for an object whose HPA is gone', async () => {
    const lines = await remediesFor('a dry run next to another document', {
      name: 'web',
      generation: 3,
      otherScaler: null,
      document: { spec: { dryRun: true } },
    });

    expect(lines).toEqual([
      `Apply the decisions: kubectl patch -n shop scalers.promscaler.dev web --type=merge -p '{"spec":{"dryRun":false}}'`,
    ]);
  });

  it('is only the search for the value of a metric in a dry run without one', async () => {
    const lines = await remediesFor('a dry run without data');

    expect(lines[0]).toMatch(/^Let doctor name the fix/);
    expect(lines.join()).not.toMatch(/delete|"?dryRun"?:/i);
  });

  it('is an edit of an invalid object', async () => {
    const [first] = await remediesFor('no series', {
      name: 'web',
      generation: 3,
      rejections: [{ code: 'wrong-value', file: 'scalers.promscaler.dev/shop/web', line: null }],
    });

    expect(first).toBe(
      'Correct the document, and apply it again: kubectl edit -n shop scalers.promscaler.dev web',
    );
  });

  it('is the deletion of one of two files with the same name', async () => {
    const [first] = await remediesFor('no series', {
      name: 'web',
      rejections: [{ code: 'duplicate-document', file: '/etc/promscaler/scalers/web.yaml', line: null }],
    });

    expect(first).toBe('Delete one of the documents with this name');
  });

  const UNUSED = { code: 'duplicate-document', file: 'scalers.promscaler.dev/shop/web', line: null };

  it('is, for an object next to a file with the same name, the deletion of the object or of the document in the file', async () => {
    const lines = await remediesFor('a rejected version', {
      name: 'web',
      file: '/etc/promscaler/scalers/web.yaml',
      rejections: [{ code: 'wrong-value', file: UNUSED.file, line: null }, UNUSED],
    });

    expect(lines).toEqual([
      'To keep the document in /etc/promscaler/scalers/web.yaml, delete the object with the same name: kubectl delete -n shop scalers.promscaler.dev web',
      'To keep the object, remove shop/web from /etc/promscaler/scalers/web.yaml',
    ]);
  });

  it.each([null, 3])(
    'is first the correction of an invalid file next to an object, if generation %p of the object is in effect',
    async (generation) => {
      const file = '/etc/promscaler/scalers/web.yaml';
      const lines = await remediesFor('a rejected version', {
        name: 'web',
        generation,
        file: generation === null ? file : null,
        rejections: [UNUSED, { code: 'wrong-value', file, line: 4 }],
      });

      expect(lines).toEqual([
        `Correct ${file}, line 4, and validate it: promscaler validate ${file}`,
        expect.stringContaining(`To keep the document in ${file}, delete the object`),
        `To keep the object, remove shop/web from ${file}`,
      ]);
    },
  );

  it('deletes no scaler that scales the target of a dry run', async () => {
    const lines = await remediesFor('a dry run next to another document', {
      document: { spec: { dryRun: true } },
    });

    expect(lines.slice(0, 2)).toEqual([
      'Compare with the scaler of the target: promscaler explain shop/other',
      `To let this scaler scale, put shop/other in dry run, here or in its file: kubectl patch -n shop scalers.promscaler.dev other --type=merge -p '{"spec":{"dryRun":true}}'`,
    ]);
    expect(lines[2]).toMatch(/^Then apply the decisions/);
    expect(lines).toHaveLength(3);
  });

  it('is, between two scalers, the deletion of either', async () => {
    const lines = await remediesFor(NAMED.find(({ state }) => state === 'Conflict')?.what ?? '', {
      name: 'web',
      generation: 3,
      otherScaler: { kind: 'Scaler', namespace: 'shop', name: 'other' },
    });

    expect(lines).toEqual([
      'Keep one of the two scalers. To keep the other, delete shop/web: kubectl delete -n shop scalers.promscaler.dev web',
      'To keep this scaler, delete shop/other (or its file): kubectl delete -n shop scalers.promscaler.dev other',
    ]);
  });

  it('names the files of two scalers with objects of the same names, and these objects, which would take effect', async () => {
    const lines = await remediesFor(NAMED.find(({ state }) => state === 'Conflict')?.what ?? '', {
      name: 'web',
      file: 'web.yaml',
      rejections: [UNUSED],
      otherScaler: {
        kind: 'Scaler',
        namespace: 'shop',
        name: 'other',
        file: 'other.yaml',
        isAlsoObject: true,
      },
    });

    expect(lines.slice(0, 2)).toEqual([
      'Keep one of the two scalers. To keep the other, remove shop/web from web.yaml, and delete the object of this name: kubectl delete -n shop scalers.promscaler.dev web',
      'To keep this scaler, remove shop/other from other.yaml, and delete the object of this name: kubectl delete -n shop scalers.promscaler.dev other',
    ]);
    expect(lines).toHaveLength(4);
  });

  it('advises the deletion of no object that does not exist', async () => {
    const what = NAMED.find(({ state }) => state === 'Conflict')?.what ?? '';
    const other = { kind: 'Scaler', namespace: 'shop', name: 'other' };
    const ofFile = await remediesFor(what, {
      name: 'web',
      file: 'web.yaml',
      otherScaler: { ...other, file: 'other.yaml', isAlsoObject: false },
    });
    const ofObject = await remediesFor(what, { otherScaler: { ...other, file: null, isAlsoObject: false } });

    expect(ofFile).toEqual([
      'Keep one of the two scalers. To keep the other, remove shop/web from web.yaml',
      'To keep this scaler, remove shop/other from other.yaml',
    ]);
    expect(ofObject[1]).toBe(
      'To keep this scaler, delete shop/other: kubectl delete -n shop scalers.promscaler.dev other',
    );
  });

  it('quotes for the shell what is not plain', async () => {
    const [line] = await remediesFor('no series', { name: "a'b" });

    expect(line).toContain(String.raw`promscaler doctor 'shop/a'\''b' `);
  });

  it('is the end of what explain prints', async () => {
    const name = named('no series of one metric, and the other wants more');
    const { stdout } = await runCli(['explain', `shop/${name}`, '--url', service.url], {
      clock: new ManualClock(),
    });

    expect(stdout).toContain(`
What to do
  Let doctor name the fix:
    promscaler doctor shop/${name} --config promscaler.yaml
  Try the query of queue in Prometheus: q
    https://prometheus.example.com/main/graph?g0.expr=q&g0.tab=0&g0.range_input=1h
`);
  });
});
