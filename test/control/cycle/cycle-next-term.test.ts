import { describe, expect, it } from '@jest/globals';
import { forNewTerm } from '../../../src/control/memory/memory.js';
import type { StateReading, StateStore } from '../../../src/kubernetes/state/state-store.js';
import { stateInMemory } from '../../../src/kubernetes/state/state-store.js';
import { failure } from '../fake-cluster.js';
import { at, settledMemory, Fixture } from '../fixture.js';

/** The entry that another process has stored, without an intent. */
const ENTRY: StateReading = {
  kind: 'entry',
  text: 'theirs',
  entry: {
    epoch: '1/other',
    uid: 'uid-1',
    lastScaleUp: at(-1000),
    lastScaleDown: at(-1000),
    scaleEvents: [],
    zeroedBySelf: false,
    failingSince: new Map(),
    intent: null,
    absentSince: null,
  },
  isOwn: false,
  since: at(-5000),
};

/** A store that returns `reading` and, unless `isWritable`, cannot be written. */
function storeWith(reading: StateReading, isWritable: boolean): StateStore {
  return {
    ...stateInMemory(),
    read: () => Promise.resolve(reading),
    put: () =>
      Promise.resolve(
        isWritable ? { kind: 'written', stored: 'ours' } : { kind: 'failed', message: 'the store is away' },
      ),
  };
}

/** A scale-up from 5 to 8 at 0 s that is applied, but whose answer is lost; the next term starts 30 s later. */
async function termsWith(first: StateStore, second: StateStore): Promise<Fixture> {
  const fixture = new Fixture({ upscaleForbiddenWindowSeconds: 300 });
  fixture.memory = settledMemory({ lastScaleUp: at(-1000), lastScaleDown: at(-1000) });
  fixture.state = first;
  fixture.load = 80;
  fixture.cluster.patchScripts.push((apply) => {
    apply();
    return Promise.reject(failure('timeout'));
  });
  await fixture.cycle();
  fixture.clock.advance(30_000);
  fixture.memory = forNewTerm(fixture.memory, fixture.clock.now());
  fixture.state = second;
  fixture.load = 160;
  return fixture;
}

describe('the term after a scale-up whose answer was lost', () => {
  it('counts it for the window of 300 s if its intent could not be stored', async () => {
    const fixture = await termsWith(storeWith(ENTRY, false), storeWith(ENTRY, true));

    const { record, memory } = await fixture.cycle();

    expect(record.outcome.kind).toBe('none');
    expect(memory).toMatchObject({ unresolved: null, state: { lastScaleUp: at(30) } });
  });

  it('counts it, too, if the store cannot be read', async () => {
    const unusable: StateReading = { kind: 'unusable', text: null, message: 'gone' };
    const fixture = await termsWith(storeWith(ENTRY, true), storeWith(unusable, false));

    const { memory } = await fixture.cycle();

    expect(memory.state.scaleEvents).toMatchObject([{ at: at(30), change: 3 }]);
  });

  it('counts it, too, if another replica has announced a change meanwhile', async () => {
    const intent = {
      epoch: '2/other',
      from: 8,
      to: 7,
      earlier: [],
      resourceVersion: '90',
      generation: 1,
      at: at(20),
    };
    const theirs: StateReading = { ...ENTRY, text: 'announced', entry: { ...ENTRY.entry, intent } };
    const fixture = await termsWith(storeWith(ENTRY, false), storeWith(theirs, true));

    const { record, memory } = await fixture.cycle();

    expect(record.outcome.kind).not.toBe('patched');
    expect(memory.state.lastScaleUp).toBe(at(0));
  });

  it('does not count it if its intent was stored and another replica has resolved it', async () => {
    const fixture = await termsWith(storeWith(ENTRY, true), storeWith(ENTRY, true));

    const { record } = await fixture.cycle();

    expect(record.outcome).toMatchObject({ kind: 'patched', from: 8, to: 16 });
  });
});
