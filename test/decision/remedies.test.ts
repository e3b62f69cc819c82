import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { remediesOf } from '../../src/decision/remedies.js';
import type { TroubledScaler } from '../../src/decision/remedies.js';
import { createRecords } from '../../src/telemetry/records.js';
import { runCli } from '../cli/fake-io.js';
import { appOf, listen } from '../cli/live-service.js';
import type { Listening } from '../cli/live-service.js';
import { ManualClock } from '../support/manual-clock.js';
import { STATE_CASES } from '../telemetry/state-cases.js';

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
    remediesOf({ ...(await read(named(what))), ...fields }).map(({ text, command }) =>
      command === null ? text : `${text}: ${command}`,
    );

  beforeAll(async () => {
    for (const { name, make } of NAMED) records.ledger.add(make(name));
    service = await listen(appOf(records.ledger, records));
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

  it('is 6 replicas as the maximum in the file, or as a patch of the object', async () => {
    const text = 'Raise spec.maxReplicas: 6 replicas are recommended';

    expect(await remediesFor('more than the maximum')).toEqual([
      expect.stringMatching(/^Raise .* recommended\. Set it in the file of shop\/s\d+: maxReplicas: 6$/),
    ]);
    const [line = ''] = await remediesFor('more than the maximum', { generation: 3 });
    expect(line).toMatch(
      /: kubectl patch -n shop scalers\.promscaler\.dev s\d+ --type=merge -p '\{"spec":\{"maxReplicas":6\}\}'$/,
    );
    expect(line.startsWith(text)).toBe(true);
  });

  it('does not propose another spec.maxReplicas if a ceiling sets the maximum', async () => {
    expect((await remediesFor('more than a ceiling')).join()).not.toContain('kubectl');
  });

  it('is the query of the metric without a value', async () => {
    expect(await remediesFor('no series of one metric, and the other wants more')).toEqual([
      'Try the query of queue in Prometheus: q',
      'Let doctor say why a metric has no value: promscaler doctor',
      expect.stringMatching(
        /^Keep 4 replicas for 30 minutes meanwhile: promscaler pause shop\/s\d+ --for 30m$/,
      ),
    ]);
  });

  it('is doctor, then the query of another metric, if the first one without a value has no query', async () => {
    const [first, second] = await remediesFor('no series of one metric, and the other wants more', {
      metrics: [
        { metric: 'cpu', error: 'timeout' },
        { metric: 'queue', error: 'no series' },
      ],
    });

    expect([first, second]).toEqual([
      'Let doctor say why a metric has no value: promscaler doctor',
      'Try the query of queue in Prometheus: q',
    ]);
  });

  it('is the deletion of the HPA that the conflict names', async () => {
    const [first] = await remediesFor(NAMED.find(({ state }) => state === 'Conflict')?.what ?? '');

    expect(first).toBe(
      'Delete the second HorizontalPodAutoscaler, shop/web, or this one: kubectl delete -n shop hpa web',
    );
  });

  it('is the deletion of the HPA, or a comparison in dry run, for an object whose conflict it is', async () => {
    const [first, second] = await remediesFor(NAMED.find(({ state }) => state === 'Conflict')?.what ?? '', {
      generation: 3,
      name: 'web',
    });

    expect(first).toMatch(/^Delete the second HorizontalPodAutoscaler/);
    expect(second).toBe(
      `Or compare the two first, in dry run: kubectl patch -n shop scalers.promscaler.dev web --type=merge -p '{"spec":{"dryRun":true}}'`,
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
      `Delete it and carry the decisions out, in one step with a way back: promscaler adopt ${name} -n shop --switch`,
    ]);
  });

  it('is an edit of an invalid object', async () => {
    const [first] = await remediesFor('no series', {
      name: 'web',
      generation: 3,
      rejections: [{ file: 'scalers.promscaler.dev/shop/web', line: null }],
    });

    expect(first).toBe(
      'Correct the document, and apply it again: kubectl edit -n shop scalers.promscaler.dev web',
    );
  });

  it('is the deletion of the other document before a dry run next to it ends', async () => {
    const [first] = await remediesFor('a dry run next to another document');

    expect(first).toBe(
      'Delete the second document (or its file), shop/other, or this one: kubectl delete -n shop scalers.promscaler.dev other',
    );
  });

  it('quotes for the shell what is not plain', async () => {
    const lines = await remediesFor('no series', { name: "a'b" });

    expect(lines.at(-1)).toContain(String.raw`promscaler pause 'shop/a'\''b' --for 30m`);
  });

  it('is the end of what explain prints', async () => {
    const name = named('no series of one metric, and the other wants more');
    const { stdout } = await runCli(['explain', `shop/${name}`, '--url', service.url], {
      clock: new ManualClock(),
    });

    expect(stdout).toContain(`
What to do
  Try the query of queue in Prometheus:
    q
  Let doctor say why a metric has no value:
    promscaler doctor
  Keep 4 replicas for 30 minutes meanwhile:
    promscaler pause shop/${name} --for 30m
`);
  });
});
