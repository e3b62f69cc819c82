import { describe, expect, it } from '@jest/globals';
import type { ConditionReason } from '../../../src/decision/result/condition.js';
import { KubernetesError } from '../../../src/kubernetes/api/types.js';
import type { LedgerEntry } from '../../../src/telemetry/ledger.js';
import { condition, decision, limitStep, metricResult } from '../../telemetry/record-builder.js';
import { ACTIVE, cycle, object, problem, verdict } from './status-builder.js';
import { cpuAt, WriterFixture } from './writer-fixture.js';

describe('writeStatuses', () => {
  it('writes once in 100 cycles with the same metrics', async () => {
    const fixture = new WriterFixture();

    await fixture.cycles(100, () => cpuAt(55));

    expect(fixture.sent).toHaveLength(1);
  });

  it('records the Event of a rejected generation once, and of the same generation after it was accepted again', async () => {
    const fixture = new WriterFixture();
    const duplicate = verdict({ problems: [problem({ code: 'duplicate-document' })] });
    const event = {
      name: 'web',
      generation: 2,
      type: 'Warning',
      message: 'spec.minReplicas is 5, must be at most spec.maxReplicas (3)',
    };

    fixture.verdict = verdict({ problems: [problem(), problem()] });
    await fixture.after(60);
    fixture.verdict = duplicate;
    await fixture.after(60);
    fixture.verdict = verdict();
    await fixture.after(60);
    fixture.verdict = duplicate;
    await fixture.after(60);

    expect(fixture.sent.length).toBeGreaterThanOrEqual(4);
    expect(fixture.events).toEqual([
      { ...event, reason: 'Invalid', message: `${event.message}, and 1 more` },
      { ...event, reason: 'Duplicate' },
    ]);
  });

  it('records no Event while the status cannot be written, so that a later write records it', async () => {
    const fixture = new WriterFixture();
    fixture.verdict = verdict({ problems: [problem()] });

    fixture.failure = new KubernetesError('server_error', 'down');
    await fixture.after(60);
    expect(fixture.events).toEqual([]);
    fixture.failure = null;
    await fixture.after(60);

    expect(fixture.events).toHaveLength(1);
  });

  it('writes metrics that fluctuate with each cycle of 15 s, and at most once in 10 s with cycles of 2 s', async () => {
    const fixture = new WriterFixture();

    await fixture.cycles(16, (index) => cpuAt(55 + index));
    expect(fixture.sent).toHaveLength(16);
    expect(fixture.sent.at(-1)?.status).toMatchObject({ targets: 'cpu: 70%/60%' });
    for (let index = 0; index < 20; index += 1) {
      fixture.last = cpuAt(index);
      await fixture.after(2);
    }

    expect(fixture.sent).toHaveLength(20);
  });

  it('writes changed messages of a condition after 10 s, and a changed status at once', async () => {
    const fixture = new WriterFixture();
    const able = (reason: ConditionReason, status: 'True' | 'False' = 'True'): LedgerEntry =>
      cycle({ conditions: [condition({ reason, status }), ACTIVE] });
    fixture.last = able('ReadyForNewScale');
    await fixture.after(4);

    fixture.last = able('ScaleDownStabilized');
    await fixture.after(6);
    expect(fixture.sent).toHaveLength(1);
    await fixture.after(4);
    expect(fixture.sent).toHaveLength(2);
    fixture.last = able('FailedGetScale', 'False');
    await fixture.after(2);
    expect(fixture.sent).toHaveLength(3);
  });

  it.each([
    ['state', cycle({ decision: decision({ recommendedReplicas: 2, limits: [limitStep()] }) })],
    ['pair of bounds', cycle({ decision: decision({ maxReplicas: 60, minReplicas: 2 }) })],
  ])('writes a changed %s, which kubectl shows in columns, in the next pass', async (_what, next) => {
    const fixture = new WriterFixture();
    fixture.last = cpuAt(55);
    await fixture.after(4);

    fixture.last = next;
    await fixture.after(2);

    expect(fixture.sent).toHaveLength(2);
    const { minReplicas, maxReplicas } = next.record.decision ?? {};
    expect(fixture.sent.at(-1)?.status).toMatchObject({ state: next.state.name, minReplicas, maxReplicas });
  });

  it('writes a changed count in the next pass', async () => {
    const fixture = new WriterFixture();
    fixture.last = cpuAt(55);
    await fixture.after(4);

    fixture.last = cycle({ decision: decision({ desiredReplicas: 4 }) });
    await fixture.after(2);

    expect(fixture.sent.map(({ status }) => status['desiredReplicas'])).toEqual([3, 4]);
  });

  it('writes the metrics of the same decision with a changed count, 15 s after the last ones', async () => {
    const fixture = new WriterFixture();
    await fixture.cycles(1, () => cpuAt(55));
    const result = metricResult({ current: { averageUtilization: 90 } });

    await fixture.cycles(1, () => cycle({ decision: decision({ desiredReplicas: 5, metrics: [result] }) }));

    expect(fixture.sent.at(-1)?.status).toMatchObject({ desiredReplicas: 5, targets: 'cpu: 90%/60%' });
  });

  it('removes values that are no longer known', async () => {
    const fixture = new WriterFixture();
    fixture.last = cpuAt(55);
    await fixture.after(4);

    fixture.last = cycle({ decision: null, conditions: [condition({ status: 'False' }), ACTIVE] });
    await fixture.after(4);

    expect(fixture.sent.at(-1)?.status).toMatchObject({ currentReplicas: null, currentMetrics: null });
    expect(fixture.sent).toHaveLength(2);
  });

  it('writes nothing without the permission, and everything once it has it', async () => {
    const fixture = new WriterFixture();
    fixture.last = cpuAt(55);
    fixture.mayWrite = false;
    await fixture.after(60);
    expect(fixture.sent).toHaveLength(0);

    fixture.mayWrite = true;
    await fixture.after(4);

    expect(fixture.sent).toHaveLength(1);
  });

  it('writes nothing for an object whose document was not validated yet', async () => {
    const fixture = new WriterFixture();
    fixture.verdict = verdict({ specText: 'another one' });
    await fixture.after(60);
    expect(fixture.sent).toHaveLength(0);

    fixture.verdict = verdict({ problems: [problem()], scaler: null });
    await fixture.after(4);

    expect(fixture.sent).toHaveLength(1);
  });

  it('does not repeat a status that the server keeps in another form', async () => {
    const fixture = new WriterFixture();
    fixture.keep = (status) => ({ ...status, currentMetrics: [] });

    await fixture.cycles(20, () => cpuAt(55));

    expect(fixture.sent).toHaveLength(1);
  });

  it('writes the status of 25 new objects in one pass, each once', async () => {
    const names = Array.from({ length: 25 }, (_, index) => `web-${index}`);
    const fixture = new WriterFixture(...names.map((name) => object({ name, uid: name })));
    fixture.last = cpuAt(55);

    await fixture.after(2);
    expect(fixture.sent).toHaveLength(25);
    await fixture.after(60);

    expect(new Set(fixture.sent.map((one) => one.object.name)).size).toBe(25);
    expect(fixture.sent).toHaveLength(25);
  });
});

describe('writeStatuses of a process that follows a dead one', () => {
  it('writes nothing if the last status was written, whether or not its answer arrived', async () => {
    const first = new WriterFixture();
    first.last = cpuAt(55);
    await first.after(4);
    const [shown] = first.store.list();
    if (shown === undefined) throw new Error('the object exists');

    const second = new WriterFixture(shown);
    await second.after(30);
    second.last = cpuAt(55);
    await second.after(90);

    expect(first.sent).toHaveLength(1);
    expect(second.sent).toHaveLength(0);
  });

  it('writes the missing parts of the last status, and keeps the transition times of the conditions', async () => {
    const first = new WriterFixture();
    first.last = cpuAt(55);
    await first.after(4);
    const [shown] = first.store.list();
    if (shown === undefined) throw new Error('the object exists');

    const second = new WriterFixture(shown);
    await second.after(600);
    second.last = cycle({ decision: decision({ desiredReplicas: 7 }) });
    await second.after(4);

    expect(second.sent.map(({ status }) => status['desiredReplicas'])).toEqual([7]);
    const times = (fixture: WriterFixture): unknown =>
      (fixture.sent[0]?.status['conditions'] as { lastTransitionTime: string }[]).map(
        (one) => one.lastTransitionTime,
      );
    expect(times(second)).toEqual(times(first));
  });
});
