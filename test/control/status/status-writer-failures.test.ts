import { describe, expect, it } from '@jest/globals';
import { KubernetesError } from '../../../src/kubernetes/api/types.js';
import { decision } from '../../telemetry/record-builder.js';
import { cycle, object } from './status-builder.js';
import { cpuAt, WriterFixture } from './writer-fixture.js';

describe('writeStatuses after a failed write', () => {
  it.each(['conflict', 'not_found'] as const)(
    'drops it for %s, logs nothing, and starts from the object as it is then',
    async (kind) => {
      const fixture = new WriterFixture();
      fixture.last = cpuAt(55);
      fixture.failure = new KubernetesError(kind, 'no');
      await fixture.after(4);
      expect(fixture.sent).toHaveLength(1);

      fixture.failure = null;
      fixture.store.scopes[0]?.store.put(object({ resourceVersion: '20' }));
      await fixture.after(2);

      expect(fixture.sent.map((one) => one.object.resourceVersion)).toEqual(['10', '20']);
      expect(fixture.warnings).toEqual([]);
    },
  );

  it('logs a 403 that lasts 15 s once with its fix, and retries after 5 s at first, then at least once a minute', async () => {
    const fixture = new WriterFixture(object(), object({ name: 'api', uid: 'u-api' }));
    fixture.last = cpuAt(55);
    fixture.failure = new KubernetesError('forbidden', 'writing the status: 403 Forbidden');

    await fixture.after(16);
    expect(fixture.warnings).toEqual([]);
    expect(fixture.sent.length).toBeGreaterThan(3);
    await fixture.after(6);
    const believed = fixture.sent.length;
    await fixture.after(12);
    expect(fixture.sent.length).toBeGreaterThan(believed);
    await fixture.after(600);

    expect(fixture.sent.length - believed).toBeGreaterThanOrEqual(600 / 62);
    expect(fixture.sent.length - believed).toBeLessThanOrEqual(600 / 30 + 4);
    expect(fixture.warnings).toEqual([
      expect.objectContaining({ scaler: 'shop/web', fix: expect.stringContaining('scalers/status') }),
    ]);
  });

  it('writes all objects, also new ones and those of other namespaces, within 2 s of the first write that is allowed again', async () => {
    const fixture = new WriterFixture(
      object(),
      object({ namespace: 'lab', uid: 'u-lab' }),
      object({ namespace: 'ops', uid: 'u-ops' }),
    );
    fixture.last = cpuAt(55);
    fixture.failure = new KubernetesError('forbidden', 'no');
    await fixture.after(900);
    const refused = fixture.sent.length;

    fixture.failure = null;
    fixture.store.scopes[0]?.store.put(object({ name: 'new', uid: 'u-new' }));
    let seconds = 0;
    for (; fixture.sent.length === refused && seconds < 120; seconds += 1) await fixture.after(1);
    await fixture.after(3);

    expect(seconds).toBeLessThanOrEqual(62);
    const names = fixture.sent.slice(refused).map((one) => `${one.object.namespace}/${one.object.name}`);
    expect(names.sort()).toEqual(['lab/web', 'ops/web', 'shop/new', 'shop/web']);
  });

  it('reports an internal error as such, and continues with other objects', async () => {
    const fixture = new WriterFixture(object(), object({ name: 'api', uid: 'u-api' }));
    fixture.last = cpuAt(55);
    fixture.keep = (status) => {
      if (fixture.sent.length === 1) throw new TypeError('a fault of our own');
      return status;
    };

    await fixture.after(10);

    expect(fixture.faults).toEqual(['failed to write status of Scaler: internal error']);
    expect(fixture.warnings).toEqual([]);
    expect(fixture.sent.map((one) => one.object.name)).toEqual(['web', 'api']);
  });

  it('writes within 6 s of a 403 by a server that had just started, and logs nothing', async () => {
    const fixture = new WriterFixture(object(), object({ name: 'api', uid: 'u-api' }));
    fixture.last = cpuAt(55);
    fixture.failure = new KubernetesError('forbidden', 'no');
    await fixture.after(3);
    const refused = fixture.sent.length;

    fixture.failure = null;
    await fixture.after(6);

    // Both were under way at once; later a single one shows whether the namespace is allowed.
    expect(refused).toBe(2);
    expect(fixture.sent.slice(2).map((one) => one.object.name)).toEqual(['web', 'api']);
    expect(fixture.warnings).toEqual([]);
  });

  it.each([
    [3, 3],
    [null, 1],
    [0, 1],
  ])(
    'sends the next after a 429 with a Retry-After of %p s after exactly %p s',
    async (retryAfterSeconds, seconds) => {
      const fixture = new WriterFixture();
      fixture.last = cpuAt(55);
      fixture.failure = new KubernetesError('rate_limited', 'busy', { retryAfterSeconds });
      await fixture.after(2);
      expect(fixture.sent).toHaveLength(1);

      await fixture.after(seconds - 0.001);
      expect(fixture.sent).toHaveLength(1);
      await fixture.after(0.001);

      expect(fixture.sent).toHaveLength(2);
    },
  );

  it('continues in another namespace', async () => {
    const fixture = new WriterFixture(object(), object({ namespace: 'lab', uid: 'u-lab' }));
    fixture.last = cpuAt(55);
    fixture.failure = new KubernetesError('forbidden', 'no');

    await fixture.after(4);

    expect(fixture.sent.map((one) => one.object.namespace)).toEqual(['shop', 'lab']);
  });

  it('ends the pass in an outage, logs it once, and sends at most one request in 5 s', async () => {
    const fixture = new WriterFixture(object(), object({ name: 'api', uid: 'u-api' }));
    fixture.last = cpuAt(55);
    fixture.failure = new KubernetesError('timeout', 'no answer');

    await fixture.after(30);
    const { length } = fixture.sent;
    await fixture.after(600);

    expect(fixture.sent.length - length).toBeGreaterThanOrEqual(600 / 10);
    expect(fixture.sent.length - length).toBeLessThanOrEqual(600 / 5);
    expect(fixture.warnings).toHaveLength(1);
  });

  it('writes the newest status alone, within 10 s of an outage of 10 minutes', async () => {
    const fixture = new WriterFixture();
    fixture.failure = new KubernetesError('connection', 'refused');
    await fixture.cycles(40, (index) => cpuAt(55 + index));
    const { length } = fixture.sent;

    fixture.failure = null;
    await fixture.after(10);

    expect(fixture.sent.slice(length).map(({ status }) => status['targets'])).toEqual(['cpu: 94%/60%']);
  });

  it('retries within 2 s after each of 7 lost connections that writes have followed', async () => {
    const fixture = new WriterFixture();
    for (let replicas = 1; replicas <= 7; replicas += 1) {
      fixture.last = cycle({ decision: decision({ desiredReplicas: replicas }) });
      fixture.failure = new KubernetesError('connection', 'socket hang up');
      for (let { length } = fixture.sent; fixture.sent.length === length;) await fixture.after(0.1);
      fixture.failure = null;

      await fixture.after(2);

      expect(fixture.sent.at(-1)?.status['desiredReplicas']).toBe(replicas);
      expect(fixture.sent).toHaveLength(2 * replicas);
    }
  });

  it('continues a minute after an internal error', async () => {
    const fixture = new WriterFixture();
    fixture.last = cpuAt(55);
    fixture.hasFault = true;
    await fixture.after(60);
    expect([fixture.faults.length, fixture.sent.length]).toEqual([1, 0]);

    fixture.hasFault = false;
    await fixture.after(4);

    expect(fixture.sent).toHaveLength(1);
  });

  it('does not repeat a status that the server rejects for 5 minutes', async () => {
    const fixture = new WriterFixture();
    fixture.last = cpuAt(55);
    fixture.failure = new KubernetesError('invalid', '422');

    await fixture.after(290);

    expect(fixture.sent).toHaveLength(1);
    expect(fixture.warnings).toHaveLength(1);
  });
});
