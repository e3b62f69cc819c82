import { describe, expect, it } from '@jest/globals';
import type { ConditionReason } from '../../../src/decision/result/condition.js';
import { KubernetesError } from '../../../src/kubernetes/api/types.js';
import type { ScalerStatus } from '../../../src/telemetry/ledger.js';
import { condition, decision, limitStep, metricResult } from '../../telemetry/record-builder.js';
import { ACTIVE, cycle, object, problem, verdict } from './status-builder.js';
import { cpuAt, WriterRig } from './writer-rig.js';

describe('writeStatuses', () => {
  it('writes once in 100 cycles with the same metrics', async () => {
    const rig = new WriterRig();

    await rig.cycles(100, () => cpuAt(55));

    expect(rig.sent).toHaveLength(1);
  });

  it('writes metrics that fluctuate with each cycle of 15 s, and at most once in 10 s with cycles of 2 s', async () => {
    const rig = new WriterRig();

    await rig.cycles(16, (index) => cpuAt(55 + index));
    expect(rig.sent).toHaveLength(16);
    expect(rig.sent.at(-1)?.status).toMatchObject({ targets: 'cpu: 70%/60%' });
    for (let index = 0; index < 20; index += 1) {
      rig.last = cpuAt(index);
      await rig.after(2);
    }

    expect(rig.sent).toHaveLength(20);
  });

  it('writes changed messages of a condition after 10 s, and a changed status at once', async () => {
    const rig = new WriterRig();
    const able = (reason: ConditionReason, status: 'True' | 'False' = 'True'): ScalerStatus =>
      cycle({ conditions: [condition({ reason, status }), ACTIVE] });
    rig.last = able('ReadyForNewScale');
    await rig.after(4);

    rig.last = able('ScaleDownStabilized');
    await rig.after(6);
    expect(rig.sent).toHaveLength(1);
    await rig.after(4);
    expect(rig.sent).toHaveLength(2);
    rig.last = able('FailedGetScale', 'False');
    await rig.after(2);
    expect(rig.sent).toHaveLength(3);
  });

  it.each([
    ['state', cycle({ decision: decision({ recommendedReplicas: 2, limits: [limitStep()] }) })],
    ['pair of bounds', cycle({ decision: decision({ maxReplicas: 60, minReplicas: 2 }) })],
  ])('writes a changed %s, which kubectl shows in columns, in the next pass', async (_what, next) => {
    const rig = new WriterRig();
    rig.last = cpuAt(55);
    await rig.after(4);

    rig.last = next;
    await rig.after(2);

    expect(rig.sent).toHaveLength(2);
    const { minReplicas, maxReplicas } = next.record.decision ?? {};
    expect(rig.sent.at(-1)?.status).toMatchObject({ state: next.state.name, minReplicas, maxReplicas });
  });

  it('writes a changed count in the next pass', async () => {
    const rig = new WriterRig();
    rig.last = cpuAt(55);
    await rig.after(4);

    rig.last = cycle({ decision: decision({ desiredReplicas: 4 }) });
    await rig.after(2);

    expect(rig.sent.map(({ status }) => status['desiredReplicas'])).toEqual([3, 4]);
  });

  it('writes the metrics of the same decision with a changed count, 15 s after the last ones', async () => {
    const rig = new WriterRig();
    await rig.cycles(1, () => cpuAt(55));
    const result = metricResult({ current: { averageUtilization: 90 } });

    await rig.cycles(1, () => cycle({ decision: decision({ desiredReplicas: 5, metrics: [result] }) }));

    expect(rig.sent.at(-1)?.status).toMatchObject({ desiredReplicas: 5, targets: 'cpu: 90%/60%' });
  });

  it('removes values that are no longer known', async () => {
    const rig = new WriterRig();
    rig.last = cpuAt(55);
    await rig.after(4);

    rig.last = cycle({ decision: null, conditions: [condition({ status: 'False' }), ACTIVE] });
    await rig.after(4);

    expect(rig.sent.at(-1)?.status).toMatchObject({ currentReplicas: null, currentMetrics: null });
    expect(rig.sent).toHaveLength(2);
  });

  it('writes nothing without the permission, and everything once it has it', async () => {
    const rig = new WriterRig();
    rig.last = cpuAt(55);
    rig.mayWrite = false;
    await rig.after(60);
    expect(rig.sent).toHaveLength(0);

    rig.mayWrite = true;
    await rig.after(4);

    expect(rig.sent).toHaveLength(1);
  });

  it('writes nothing for an object whose document was not validated yet', async () => {
    const rig = new WriterRig();
    rig.verdict = verdict({ specText: 'another one' });
    await rig.after(60);
    expect(rig.sent).toHaveLength(0);

    rig.verdict = verdict({ problems: [problem()], scaler: null });
    await rig.after(4);

    expect(rig.sent).toHaveLength(1);
  });

  it('does not repeat a status that the server keeps in another form', async () => {
    const rig = new WriterRig();
    rig.keep = (status) => ({ ...status, currentMetrics: [] });

    await rig.cycles(20, () => cpuAt(55));

    expect(rig.sent).toHaveLength(1);
  });

  it('writes the status of 25 new objects in one pass, each once', async () => {
    const names = Array.from({ length: 25 }, (_, index) => `web-${index}`);
    const rig = new WriterRig(...names.map((name) => object({ name, uid: name })));
    rig.last = cpuAt(55);

    await rig.after(2);
    expect(rig.sent).toHaveLength(25);
    await rig.after(60);

    expect(new Set(rig.sent.map((one) => one.object.name)).size).toBe(25);
    expect(rig.sent).toHaveLength(25);
  });
});

describe('writeStatuses of a process that follows a dead one', () => {
  it('writes nothing if the last status was written, whether or not its answer arrived', async () => {
    const first = new WriterRig();
    first.last = cpuAt(55);
    await first.after(4);
    const [shown] = first.store.list();
    if (shown === undefined) throw new Error('the object exists');

    const second = new WriterRig(shown);
    await second.after(30);
    second.last = cpuAt(55);
    await second.after(90);

    expect(first.sent).toHaveLength(1);
    expect(second.sent).toHaveLength(0);
  });

  it('writes the missing parts of the last status, and keeps the transition times of the conditions', async () => {
    const first = new WriterRig();
    first.last = cpuAt(55);
    await first.after(4);
    const [shown] = first.store.list();
    if (shown === undefined) throw new Error('the object exists');

    const second = new WriterRig(shown);
    await second.after(600);
    second.last = cycle({ decision: decision({ desiredReplicas: 7 }) });
    await second.after(4);

    expect(second.sent.map(({ status }) => status['desiredReplicas'])).toEqual([7]);
    const times = (rig: WriterRig): unknown =>
      (rig.sent[0]?.status['conditions'] as { lastTransitionTime: string }[]).map(
        (one) => one.lastTransitionTime,
      );
    expect(times(second)).toEqual(times(first));
  });
});

describe('writeStatuses after a failed write', () => {
  it.each(['conflict', 'not_found'] as const)(
    'drops it for %s, logs nothing, and starts from the object as it is then',
    async (kind) => {
      const rig = new WriterRig();
      rig.last = cpuAt(55);
      rig.failure = new KubernetesError(kind, 'no');
      await rig.after(4);
      expect(rig.sent).toHaveLength(1);

      rig.failure = null;
      rig.store.scopes[0]?.store.put(object({ resourceVersion: '20' }));
      await rig.after(2);

      expect(rig.sent.map((one) => one.object.resourceVersion)).toEqual(['10', '20']);
      expect(rig.warnings).toEqual([]);
    },
  );

  it('logs a 403 that lasts 15 s once with its fix, and retries after 5 s at first, then at least once a minute', async () => {
    const rig = new WriterRig(object(), object({ name: 'api', uid: 'u-api' }));
    rig.last = cpuAt(55);
    rig.failure = new KubernetesError('forbidden', 'writing the status: 403 Forbidden');

    await rig.after(16);
    expect(rig.warnings).toEqual([]);
    expect(rig.sent.length).toBeGreaterThan(3);
    await rig.after(6);
    const believed = rig.sent.length;
    await rig.after(12);
    expect(rig.sent.length).toBeGreaterThan(believed);
    await rig.after(600);

    expect(rig.sent.length - believed).toBeGreaterThanOrEqual(600 / 62);
    expect(rig.sent.length - believed).toBeLessThanOrEqual(600 / 30 + 4);
    expect(rig.warnings).toEqual([
      expect.objectContaining({ scaler: 'shop/web', fix: expect.stringContaining('scalers/status') }),
    ]);
  });

  it('writes all objects, also new ones and those of other namespaces, within 2 s of the first write that is allowed again', async () => {
    const rig = new WriterRig(
      object(),
      object({ namespace: 'lab', uid: 'u-lab' }),
      object({ namespace: 'ops', uid: 'u-ops' }),
    );
    rig.last = cpuAt(55);
    rig.failure = new KubernetesError('forbidden', 'no');
    await rig.after(900);
    const refused = rig.sent.length;

    rig.failure = null;
    rig.store.scopes[0]?.store.put(object({ name: 'new', uid: 'u-new' }));
    let seconds = 0;
    for (; rig.sent.length === refused && seconds < 120; seconds += 1) await rig.after(1);
    await rig.after(3);

    expect(seconds).toBeLessThanOrEqual(62);
    const names = rig.sent.slice(refused).map((one) => `${one.object.namespace}/${one.object.name}`);
    expect(names.sort()).toEqual(['lab/web', 'ops/web', 'shop/new', 'shop/web']);
  });

  it('reports an internal error as such, and continues with other objects', async () => {
    const rig = new WriterRig(object(), object({ name: 'api', uid: 'u-api' }));
    rig.last = cpuAt(55);
    rig.keep = (status) => {
      if (rig.sent.length === 1) throw new TypeError('a fault of our own');
      return status;
    };

    await rig.after(10);

    expect(rig.faults).toEqual(['failed to write status of Scaler: internal error']);
    expect(rig.warnings).toEqual([]);
    expect(rig.sent.map((one) => one.object.name)).toEqual(['web', 'api']);
  });

  it('writes within 6 s of a 403 by a server that had just started, and logs nothing', async () => {
    const rig = new WriterRig(object(), object({ name: 'api', uid: 'u-api' }));
    rig.last = cpuAt(55);
    rig.failure = new KubernetesError('forbidden', 'no');
    await rig.after(3);
    const refused = rig.sent.length;

    rig.failure = null;
    await rig.after(6);

    // Both were under way at once; later a single one shows whether the namespace is allowed.
    expect(refused).toBe(2);
    expect(rig.sent.slice(2).map((one) => one.object.name)).toEqual(['web', 'api']);
    expect(rig.warnings).toEqual([]);
  });

  it.each([
    [3, 3],
    [null, 1],
    [0, 1],
  ])(
    'sends the next after a 429 with a Retry-After of %p s after exactly %p s',
    async (retryAfterSeconds, seconds) => {
      const rig = new WriterRig();
      rig.last = cpuAt(55);
      rig.failure = new KubernetesError('rate_limited', 'busy', { retryAfterSeconds });
      await rig.after(2);
      expect(rig.sent).toHaveLength(1);

      await rig.after(seconds - 0.001);
      expect(rig.sent).toHaveLength(1);
      await rig.after(0.001);

      expect(rig.sent).toHaveLength(2);
    },
  );

  it('continues in another namespace', async () => {
    const rig = new WriterRig(object(), object({ namespace: 'lab', uid: 'u-lab' }));
    rig.last = cpuAt(55);
    rig.failure = new KubernetesError('forbidden', 'no');

    await rig.after(4);

    expect(rig.sent.map((one) => one.object.namespace)).toEqual(['shop', 'lab']);
  });

  it('ends the pass in an outage, logs it once, and backs off', async () => {
    const rig = new WriterRig(object(), object({ name: 'api', uid: 'u-api' }));
    rig.last = cpuAt(55);
    rig.failure = new KubernetesError('timeout', 'no answer');

    await rig.after(120);

    expect(rig.sent.length).toBeGreaterThan(3);
    expect(rig.sent.length).toBeLessThan(10);
    expect(rig.warnings).toHaveLength(1);
  });

  it('continues a minute after an internal error', async () => {
    const rig = new WriterRig();
    rig.last = cpuAt(55);
    rig.hasFault = true;
    await rig.after(60);
    expect([rig.faults.length, rig.sent.length]).toEqual([1, 0]);

    rig.hasFault = false;
    await rig.after(4);

    expect(rig.sent).toHaveLength(1);
  });

  it('does not repeat a status that the server rejects for 5 minutes', async () => {
    const rig = new WriterRig();
    rig.last = cpuAt(55);
    rig.failure = new KubernetesError('invalid', '422');

    await rig.after(290);

    expect(rig.sent).toHaveLength(1);
    expect(rig.warnings).toHaveLength(1);
  });
});
