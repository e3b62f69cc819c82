import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { onAbort } from '../../src/units/abort.js';
import { sleep, withDeadline } from '../../src/units/clock.js';
import { listSources } from '../architecture/source-files.js';
import { ManualClock } from '../support/manual-clock.js';

const ROOT = join(import.meta.dirname, '..', '..');

describe('onAbort', () => {
  it('calls each listener once, in order, except removed ones', () => {
    const controller = new AbortController();
    const calls: string[] = [];
    onAbort(controller.signal, () => calls.push('a'));
    const forget = onAbort(controller.signal, () => calls.push('b'));
    onAbort(controller.signal, () => calls.push('c'));
    forget();

    controller.abort();
    controller.abort();

    expect(calls).toEqual(['a', 'c']);
  });

  it('treats a function that is added twice as two listeners', () => {
    const controller = new AbortController();
    let calls = 0;
    const count = (): void => void (calls += 1);
    const forget = onAbort(controller.signal, count);
    onAbort(controller.signal, count);
    forget();
    forget();

    controller.abort();

    expect(calls).toBe(1);
  });

  it('lets a listener remove another one meanwhile, and leaves nothing on the signal', () => {
    const added: string[] = [];
    const { signal } = new AbortController();
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (type: string, listener: () => void) => {
      added.push(type);
      add(type, listener);
    };
    signal.removeEventListener = (type: string, listener: () => void) => {
      added.pop();
      remove(type, listener);
    };

    const forgets = Array.from({ length: 100 }, () => onAbort(signal, () => undefined));
    expect(added).toHaveLength(1);
    for (const forget of forgets) forget();

    expect(added).toEqual([]);
  });

  it("prevents Node's listener warning for 100 sleeps and deadlines on one signal", async () => {
    const warnings: Error[] = [];
    const hear = (warning: Error): void => void warnings.push(warning);
    process.on('warning', hear);
    const clock = new ManualClock();
    const controller = new AbortController();
    const work = Array.from({ length: 100 }, () =>
      withDeadline(clock, { ms: 1000, parent: controller.signal }, (signal) => sleep(clock, 500, signal)),
    );
    const sleeps = Array.from({ length: 100 }, () => sleep(clock, 500, controller.signal));

    controller.abort();
    await Promise.all([...work, ...sleeps]);
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', hear);

    expect(warnings.filter(({ name }) => name === 'MaxListenersExceededWarning')).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it('is used by every file of src that listens to a signal', () => {
    const others = listSources(ROOT, 'src')
      .filter((file) => file !== 'src/units/abort.ts')
      .filter((file) =>
        /addEventListener\(\s*'abort'|setMaxListeners/.test(readFileSync(join(ROOT, file), 'utf8')),
      );

    expect(others).toEqual([]);
  });
});
