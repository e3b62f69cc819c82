import { describe, expect, it } from '@jest/globals';
import { runTerm, type TermPorts } from '../../src/service/run-term.js';
import { ManualClock, settle } from '../support/manual-clock.js';
import { gate } from '../control/controller-fixture.js';

describe('runTerm', () => {
  it('reads the state before the first round, and stores it after the last one and the last status', async () => {
    const { calls, ports } = buildPorts();
    const controller = gate();
    const statuses = gate();
    const term = runTerm(
      ports({
        runController: async () => {
          calls.push('controller');
          await controller.opened;
        },
        pollStatuses: () => statuses.opened,
      }),
      new AbortController().signal,
    );
    await settle();
    expect(calls).toEqual(['reload', 'controller']);

    controller.open();
    await settle();
    expect(calls).toEqual(['reload', 'controller']);

    statuses.open();
    await term;
    expect(calls).toEqual(['reload', 'controller', 'flush', 'forget']);
  });

  it.each([
    [2999, false],
    [3000, true],
  ])('waits up to 3 s for the state store: after %d ms its end is %p', async (ms, isOver) => {
    const { calls, clock, ports } = buildPorts();
    const term = runTerm(ports({ flushState: () => gate().opened }), new AbortController().signal);
    await settle();

    await clock.advanceAndSettle(ms);

    expect(calls.includes('forget')).toBe(isOver);
    await clock.advanceAndSettle(1);
    await term;
  });

  it('stores the state and forgets the scalers after a fault of the controller, too', async () => {
    const { calls, ports } = buildPorts();
    const defect = new Error('defect');

    await expect(
      runTerm(ports({ runController: () => Promise.reject(defect) }), new AbortController().signal),
    ).rejects.toBe(defect);
    expect(calls).toEqual(['reload', 'flush', 'forget']);
  });
});

function buildPorts() {
  const calls: string[] = [];
  const clock = new ManualClock();
  const note = (name: string) => (): Promise<void> => {
    calls.push(name);
    return Promise.resolve();
  };
  const ports = (over: Partial<TermPorts> = {}): TermPorts => ({
    clock,
    reloadState: note('reload'),
    runController: note('controller'),
    pollStatuses: () => Promise.resolve(),
    recommend: () => Promise.resolve(),
    flushState: note('flush'),
    forgetScalers: () => void calls.push('forget'),
    ...over,
  });
  return { calls, clock, ports };
}
