import { describe, expect, it } from '@jest/globals';
import type { DocumentObject } from '../../src/config/document-reader.js';
import type { ObjectSource } from '../../src/config/read-objects.js';
import { createScalerFiles } from '../../src/config/scaler-files.js';
import { eventually, ManualClock } from '../support/manual-clock.js';

/** A source whose objects a test sets. */
class Objects implements ObjectSource {
  objects: readonly DocumentObject[] = [];
  complete = false;
  readonly #listeners = new Set<() => void>();
  readonly list = (): readonly DocumentObject[] => this.objects;
  readonly isComplete = (): boolean => this.complete;
  readonly onChange = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  set(...objects: readonly DocumentObject[]): void {
    this.objects = objects;
    this.complete = true;
    for (const listener of this.#listeners) listener();
  }
}

function object(name: string, maxReplicas = 3): DocumentObject {
  const specText = JSON.stringify({ scaleTargetRef: { name }, maxReplicas });
  return { namespace: 'shop', name, specText };
}

describe('load, with objects', () => {
  it('reads them, reports whether the list is complete, and reads an object again only if it changed', async () => {
    const objects = new Objects();
    const files = createScalerFiles({ paths: [], clock: new ManualClock(), objects });

    const before = await files.load();
    objects.set(object('web'), object('api'));
    const first = await files.load();
    objects.set(object('web', 5), object('api'));
    const second = await files.load();

    expect(before).toMatchObject({ scalers: [], isComplete: false, problems: [] });
    expect(first.scalers.map(({ name }) => name)).toEqual(['api', 'web']);
    expect(first.isComplete).toBe(true);
    expect(second.scalers[0]).toBe(first.scalers[0]);
    expect(second.scalers[1]?.spec.maxReplicas).toBe(5);
    expect(second.changed).toBe(true);
    expect((await files.load()).changed).toBe(false);
  });

  it('protects other objects from a hostile one: 2,600 calls, 300,000 variables, 50,000 levels', async () => {
    const objects = new Objects();
    const files = createScalerFiles({ paths: [], clock: new ManualClock(), objects });
    const asking = (name: string, query: string): DocumentObject => {
      const metrics = [{ external: { metric: { name: 'm' }, query, target: { value: 1 } } }];
      return {
        ...object(name),
        specText: JSON.stringify({ scaleTargetRef: { name }, maxReplicas: 3, metrics }),
      };
    };
    const deep = { ...object('deep'), specText: `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}` };

    objects.set(
      asking('calls', `foo(x)${'+foo(x)'.repeat(2600)}`),
      asking('variables', '$a '.repeat(300_000)),
      deep,
      object('web'),
    );
    const { scalers, problems } = await files.load();

    expect(scalers.map(({ name }) => name)).toEqual(['web']);
    expect(problems.map(({ code, file }) => `${file ?? ''} ${code}`)).toEqual([
      'scalers.promscaler.dev/shop/calls query-limit',
      'scalers.promscaler.dev/shop/deep too-deep',
      'scalers.promscaler.dev/shop/deep missing-field',
      'scalers.promscaler.dev/shop/deep missing-field',
      'scalers.promscaler.dev/shop/deep unknown-field',
      'scalers.promscaler.dev/shop/variables out-of-range',
    ]);
  });

  it('does not block the event loop while it reads thousands', async () => {
    const clock = new ManualClock();
    const objects = new Objects();
    let ms = 0;
    const files = createScalerFiles({
      paths: [],
      clock: {
        now: clock.now,
        random: clock.random,
        after: clock.after,
        // The time between two readings of the clock is 1 ms, however fast the machine is.
        monotonicMs: () => ms++,
      },
      objects,
    });
    objects.set(...Array.from({ length: 300 }, (_, index) => object(`web-${index}`)));

    const loading = files.load();
    let turns = 0;
    let isDone = false;
    void loading.then(() => (isDone = true));
    await eventually(() => {
      if (clock.pending > 0) turns += 1;
      clock.advance(0);
      return isDone;
    });

    expect((await loading).scalers).toHaveLength(300);
    expect(turns).toBeGreaterThan(0);
  });
});

describe('watch, with objects', () => {
  it('calls back once for successive changes, 0.2 s after the first, and never without one', async () => {
    const clock = new ManualClock();
    const objects = new Objects();
    const files = createScalerFiles({ paths: [], clock, objects });
    await files.load();
    const stop = new AbortController();
    let calls = 0;
    const watching = files.watch(async () => {
      await files.load();
      calls += 1;
    }, stop.signal);
    await eventually(() => clock.pending > 0);

    objects.set(object('web'));
    await clock.advanceAndSettle(199);
    expect(calls).toBe(0);
    objects.set(object('web', 4));
    await clock.advanceAndSettle(1);
    await eventually(() => calls === 1);
    await clock.advanceAndSettle(30_000);

    expect(calls).toBe(1);
    stop.abort();
    await watching;
  });
});
