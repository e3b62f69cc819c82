import { describe, expect, it } from '@jest/globals';
import { eventually, settle } from '../../../support/manual-clock.js';
import { DEPLOYMENTS, PODS, WEB, pass, send, startCluster, namesOfEvents, watch } from '../../cluster.js';

const SCALE = `${DEPLOYMENTS}/web/scale`;
const five = { body: { spec: { replicas: 5 } } };

describe('faults on request', () => {
  it('answer the next 2 reads of pods with 429 and Retry-After, and nothing else', async () => {
    const { simulator } = await startCluster({ workloads: [WEB] });
    simulator.faults.add(
      { verbs: ['list'], resource: 'pods' },
      { kind: 'refuse', status: 429, retryAfter: '5', body: 'slow down' },
      2,
    );

    const answers = [];
    for (let i = 0; i < 3; i += 1) answers.push(await send(simulator, 'GET', PODS));
    const other = await send(simulator, 'GET', DEPLOYMENTS);

    expect(answers.map(({ code }) => code)).toEqual([429, 429, 200]);
    expect(answers[0]?.headers.get('retry-after')).toBe('5');
    expect(answers[0]?.body).toEqual({ text: 'slow down' });
    expect(other.code).toBe(200);
  });

  it('drop the connection without applying the write', async () => {
    const { simulator } = await startCluster({ workloads: [WEB] });
    simulator.faults.add({ subresource: 'scale' }, { kind: 'drop' }, 1);

    await expect(send(simulator, 'PATCH', SCALE, five)).rejects.toThrow();

    expect(simulator.describe(WEB).replicas).toBe(3);
  });

  it('apply the write and lose the answer', async () => {
    const { simulator } = await startCluster({ workloads: [WEB] });
    simulator.faults.add({ verbs: ['patch'], subresource: 'scale' }, { kind: 'lose-answer' }, 1);

    await expect(send(simulator, 'PATCH', SCALE, five)).rejects.toThrow();

    expect(simulator.describe(WEB).replicas).toBe(5);
    expect(simulator.requests().at(-1)).toMatchObject({ code: null, isApplied: true });
  });

  it('answer 504 and apply the write 20 s later', async () => {
    const { simulator, clock } = await startCluster({ workloads: [WEB] });
    simulator.faults.add({ verbs: ['patch'] }, { kind: 'apply-late', ms: 20_000 }, 1);

    expect((await send(simulator, 'PATCH', SCALE, five)).code).toBe(504);
    await pass(clock, 19);
    expect(simulator.describe(WEB).replicas).toBe(3);
    await pass(clock, 1);
    expect(simulator.describe(WEB).replicas).toBe(5);
  });

  it('delay an answer by 5 s', async () => {
    const { simulator, clock } = await startCluster({ workloads: [WEB] });
    await pass(clock, 1);
    simulator.faults.add({ verbs: ['get'] }, { kind: 'delay', ms: 5000 }, 1);
    let code: number | null = null;

    const answer = send(simulator, 'GET', SCALE).then((got) => (code = got.code));
    await eventually(() => clock.nextMs === 5000);
    await pass(clock, 4.999);
    expect(code).toBeNull();
    await pass(clock, 0.001);
    await answer;

    expect(code).toBe(200);
  });

  it('store other replicas than requested, as a webhook does', async () => {
    const { simulator } = await startCluster({ workloads: [WEB] });
    simulator.faults.add({ subresource: 'scale' }, { kind: 'override-replicas', replicas: 4 }, 1);

    expect((await send(simulator, 'PATCH', SCALE, five)).body['spec']).toEqual({ replicas: 4 });
  });

  it('make everything hang until they are removed', async () => {
    const { simulator } = await startCluster({ workloads: [WEB] });
    const resume = simulator.stallAll();
    const controller = new AbortController();
    let hasAnswered = false;
    const hanging = fetch(simulator.url + DEPLOYMENTS, { signal: controller.signal })
      .then(() => (hasAnswered = true))
      .catch(() => undefined);

    await eventually(() => simulator.requests().length === 1);
    expect(hasAnswered).toBe(false);
    resume();
    expect((await send(simulator, 'GET', DEPLOYMENTS)).code).toBe(200);
    controller.abort();
    await hanging;
  });

  it('close, silence and break watches', async () => {
    const { simulator } = await startCluster({ workloads: [WEB] });
    const pods = await watch(simulator, PODS);
    const deployments = await watch(simulator, DEPLOYMENTS);
    await eventually(() => pods.events.length === 3 && deployments.events.length === 1);

    expect(simulator.watches.close({ resource: 'pods' })).toBe(1);
    await eventually(pods.hasEnded);
    expect(simulator.watches.silence({ resource: 'deployments' })).toBe(1);
    await send(simulator, 'PATCH', SCALE, five);
    await settle(20);

    expect(deployments.hasEnded()).toBe(false);
    expect(deployments.events).toHaveLength(1);
  });

  it('send ERROR events of any code', async () => {
    const { simulator } = await startCluster();
    const open = await watch(simulator, PODS);

    simulator.watches.sendError(500, 'InternalError');

    await eventually(open.hasEnded);
    expect(namesOfEvents(open.events)).toEqual(['ERROR 500']);
  });

  it('drop one event and send another twice', async () => {
    const { simulator } = await startCluster({ namespaces: ['shop'] });
    const maps = '/api/v1/namespaces/shop/configmaps';
    const open = await watch(simulator, maps);
    simulator.faults.addEventFault({ name: 'a' }, 'swallow', 1);
    simulator.faults.addEventFault({ name: 'b' }, 'duplicate', 1);

    for (const name of ['a', 'b', 'c']) await send(simulator, 'POST', maps, { body: { metadata: { name } } });

    await eventually(() => open.events.length === 3);
    expect(namesOfEvents(open.events)).toEqual(['ADDED b', 'ADDED b', 'ADDED c']);
  });
});

describe('the request log', () => {
  it('has verb, target, code, agent and the body of writes, up to a maximum of entries', async () => {
    const { simulator } = await startCluster({ workloads: [WEB], requestLogSize: 2 });

    await send(simulator, 'GET', DEPLOYMENTS);
    await send(simulator, 'GET', PODS);
    await send(simulator, 'PATCH', SCALE, { ...five, agent: 'promscaler/1.0' });

    expect(simulator.log.total).toBe(3);
    expect(simulator.requests()).toMatchObject([
      { verb: 'list', resource: 'pods', code: 200, body: null },
      {
        verb: 'patch',
        resource: 'deployments',
        subresource: 'scale',
        namespace: 'shop',
        name: 'web',
        code: 200,
        userAgent: 'promscaler/1.0',
        body: '{"spec":{"replicas":5}}',
        isApplied: true,
      },
    ]);
  });

  it('leaves no timer and no connection when it closes', async () => {
    const { simulator, clock } = await startCluster({ workloads: [{ ...WEB, podAgeSeconds: null }] });
    const open = await watch(simulator, PODS, 'allowWatchBookmarks=true');
    simulator.faults.add({}, { kind: 'delay', ms: 1000 });
    const pending = send(simulator, 'GET', PODS).catch(() => null);
    await eventually(() => clock.nextMs !== null);

    await simulator.close();

    await eventually(open.hasEnded);
    expect(await pending).toBeNull();
    expect(clock.pending).toBe(0);
  });
});
