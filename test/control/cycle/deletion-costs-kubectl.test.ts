import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { kubectlFile, runKubectl } from '../../support/kubectl.js';
import { COST, CostFixture, OWN, RANKED, rankingOf } from './cost-fixture.js';

jest.setTimeout(300_000);

const rbac = {
  admin: { user: 'admin', rules: [{ apiGroups: ['*'], resources: ['*', '*/scale'], verbs: ['*'] }] },
};

/** Real kubectl is the reference: it writes as a user does, and reads the actual objects. */
describe('deletion costs next to kubectl annotate', () => {
  let home: string;
  let fixture: CostFixture;

  beforeAll(async () => {
    await kubectlFile();
    home = mkdtempSync(join(tmpdir(), 'costs-'));
  });

  beforeEach(async () => {
    fixture = await CostFixture.create({ rbac }, 'admin');
    const kubeconfig = fixture.simulator.kubeconfig({
      token: 'admin',
      namespace: 'shop',
      isForKubectl: true,
    });
    writeFileSync(join(home, 'config'), kubeconfig);
  });

  afterEach(() => fixture.close());
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  const kubectl = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await runKubectl(args, { kubeconfig: join(home, 'config'), home });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return stdout;
  };

  /** Runs `kubectl annotate` as in the manual, and waits for the watch. */
  const annotate = async (pod: string, ...annotations: readonly string[]): Promise<void> => {
    expect(await kubectl('annotate', 'pod', pod, ...annotations)).toBe(`pod/${pod} annotated\n`);
    await fixture.watched();
  };

  /** Reads the pod with kubectl, without the resourceVersion. No annotations are the same as `{}`. */
  const read = async (pod: string): Promise<unknown> => {
    const shown = JSON.parse(await kubectl('get', 'pod', pod, '-o', 'json')) as {
      readonly metadata: Readonly<Record<string, unknown>>;
    };
    const { annotations = {}, ...metadata } = shown.metadata;
    return { ...shown, metadata: { ...metadata, annotations, resourceVersion: '' } };
  };

  /** Ranks pods 0 to 4 in the order of their names, for a scale-down to `to` whose change of replicas fails. */
  const markFor = async (to: number): Promise<readonly string[]> => {
    const pods = fixture.pods();
    const removeFault = fixture.simulator.faults.add(
      { verbs: ['patch'], resource: 'deployments' },
      { kind: 'refuse', status: 500 },
    );
    await fixture.cycle(to, {
      ranking: rankingOf(Object.fromEntries(pods.map((pod, value) => [pod, value]))),
    });
    removeFault();
    await fixture.watched();
    return pods;
  };

  it('writes the same pod as kubectl when it sets and removes a cost', async () => {
    const [pod = ''] = fixture.pods();
    const plain = await read(pod);
    await markFor(3);
    const ours = await read(pod);
    await fixture.cycle(5);
    await fixture.watched();
    const oursAway = await read(pod);

    await annotate(pod, `${COST}=-2`, `${OWN}=-2`);
    const theirs = await read(pod);
    await annotate(pod, `${COST}-`, `${OWN}-`);
    const theirsAway = await read(pod);

    expect(ours).toEqual(theirs);
    expect(ours).toMatchObject({ metadata: { annotations: { [COST]: '-2', [OWN]: '-2' } } });
    expect(oursAway).toEqual(theirsAway);
    expect(oursAway).not.toEqual(ours);
    expect(oursAway).toEqual(plain);
  });

  it('keeps the other annotations of a pod', async () => {
    const [pod = ''] = fixture.pods();
    await annotate(pod, 'team=shop');

    await markFor(3);
    const marked = fixture.annotations()[pod];
    await fixture.cycle(5);

    expect(marked).toEqual({ team: 'shop', [COST]: '-2', [OWN]: '-2' });
    expect(fixture.annotations()).toEqual({ [pod]: { team: 'shop' } });
  });

  it('removes its own costs, and none that kubectl has set', async () => {
    const [first = '', second = '', third = ''] = await markFor(3);
    await annotate(third, `${COST}=40`);

    await fixture.cycle(5);
    const column = `-o=jsonpath={range .items[*]}{.metadata.name} {.metadata.annotations.${dotted(COST)}} {.metadata.annotations.${dotted(OWN)}}{"\\n"}{end}`;
    const shown = await kubectl('get', 'pods', column);

    expect(fixture.annotations()).toEqual({ [third]: { [COST]: '40' } });
    expect(shown).toContain(`${first}  \n`);
    expect(shown).toContain(`${second}  \n`);
    expect(shown).toContain(`${third} 40 \n`);
  });

  it('keeps a cost that kubectl --overwrite has set over the cost of promscaler, also in the next scale-down', async () => {
    const [first = '', second = ''] = await markFor(4);
    await annotate(first, '--overwrite', `${COST}=77`);

    const ranking = rankingOf(Object.fromEntries(fixture.pods().map((pod, value) => [pod, value])));
    const { record } = await fixture.cycle(4, { ranking });
    const written = fixture.annotations();
    await fixture.pass(5);

    expect(record.outcome.kind).toBe('patched');
    expect(written).toEqual({
      [first]: { [COST]: '77', [OWN]: '-1' },
      [second]: { [COST]: '-1', [OWN]: '-1' },
    });
    expect(fixture.pods()).toContain(first);
    expect(fixture.pods()).not.toContain(second);
  });

  it('lets a pod with -101 be removed before its own, and one with 1 after all others: 5 to 3', async () => {
    const [first = '', ...others] = fixture.pods();
    const [last = ''] = others.slice(-1);
    await annotate(first, `${COST}=1`);
    await annotate(last, `${COST}=-101`);
    const ranking = rankingOf(Object.fromEntries(fixture.pods().map((pod, value) => [pod, value])));

    const { record } = await fixture.cycle(3, { ranking });
    const written = fixture.annotations();
    await fixture.pass(5);

    expect(record.outcome.kind).toBe('patched');
    expect(written).toEqual({
      [first]: { [COST]: '1' },
      [others[0] ?? '']: { [COST]: '-1', [OWN]: '-1' },
      [last]: { [COST]: '-101' },
    });
    expect([...fixture.pods()].sort()).toEqual([first, others[1], others[2]].sort());
  });

  it('does not overwrite a cost that kubectl sets between its list and its patch', async () => {
    const [first = ''] = fixture.pods();
    fixture.simulator.faults.addEventFault({ resource: 'pods', name: first }, 'swallow');
    await kubectl('annotate', 'pod', first, `${COST}=12`);
    const ranking = rankingOf(Object.fromEntries(fixture.pods().map((pod, value) => [pod, value])));

    await fixture.cycle(4, { ranking, spec: RANKED });

    expect(fixture.annotations()).toEqual({ [first]: { [COST]: '12' } });
    expect(fixture.warnings).toEqual([]);
  });

  it('is removed by the command of the manual, which accepts pods without costs, too', async () => {
    const [first = '', , , fourth = ''] = await markFor(3);

    await annotate(first, `${COST}-`, `${OWN}-`);
    await kubectl('annotate', 'pod', fourth, `${COST}-`, `${OWN}-`);

    expect(fixture.annotations()[first]).toBeUndefined();
    expect(fixture.annotations()[fourth]).toBeUndefined();
  });
});

/** Escapes a key for JSONPath. */
function dotted(key: string): string {
  return key.replaceAll('.', '\\.');
}
