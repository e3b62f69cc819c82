import { describe, expect, it } from '@jest/globals';
import { writeEntry } from '../../../src/kubernetes/state/state-entry.js';
import type { KubernetesRequest } from '../../../src/kubernetes/requests/transport.js';
import { at } from '../../control/fixture.js';
import { settle } from '../../support/manual-clock.js';
import { StateFixture, stateOf, WEB, WEB_KEY, WEB_MAP } from './state-fixture.js';

/** Delays the answers to the next requests with this verb, which are served at once; `letGo` delivers them. */
function holdAnswers(fixture: StateFixture, verb: 'get' | 'patch'): { readonly letGo: () => void } {
  const serve = fixture.maps.request;
  let letGo = (): void => undefined;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  Object.assign(fixture.maps, {
    request: async (request: KubernetesRequest) => {
      const answer = await serve(request);
      if (request.verb === verb) await held;
      return answer;
    },
  });
  return { letGo: () => letGo() };
}

/** A store that has read an entry of `shop/web`. */
async function loadedStore(): Promise<StateFixture> {
  const fixture = new StateFixture();
  fixture.maps.edit(WEB_MAP, WEB_KEY, writeEntry('1/a', stateOf({ lastScaleUp: at(0) })));
  await fixture.store.reload();
  return fixture;
}

describe('the order of reads and writes of a ConfigMap', () => {
  it('keeps an entry that is written while a GET is under way, whose answer is late', async () => {
    const fixture = await loadedStore();
    const { text } = await fixture.store.read(WEB);
    let serve = (): void => undefined;
    const served = new Promise<void>((resolve) => (serve = resolve));
    fixture.maps.before = ({ verb }) => (verb === 'patch' ? served : Promise.resolve());
    const gate = holdAnswers(fixture, 'get');
    const putting = fixture.store.put({ scaler: WEB, base: text, state: stateOf({ lastScaleUp: at(30) }) });
    await settle(20);
    const reading = fixture.store.reload();
    await settle(20);

    serve();
    await putting;
    gate.letGo();
    await reading;

    expect(await fixture.store.read(WEB)).toMatchObject({ isOwn: true, entry: { lastScaleUp: at(30) } });
  });

  it('keeps an entry of another replica that is read while the answer to an earlier PATCH is late', async () => {
    const fixture = await loadedStore();
    const { text } = await fixture.store.read(WEB);
    const gate = holdAnswers(fixture, 'patch');
    const putting = fixture.store.put({ scaler: WEB, base: text, state: stateOf({ lastScaleUp: at(30) }) });
    await settle(20);
    const theirs = writeEntry('2/b', stateOf({ lastScaleUp: at(40) }));
    fixture.maps.edit(WEB_MAP, WEB_KEY, theirs);

    const reading = fixture.store.reload();
    await settle(20);
    gate.letGo();
    await Promise.all([reading, putting]);

    expect(await fixture.store.read(WEB)).toMatchObject({ text: theirs, isOwn: false });
  });

  it('reads again for a reload that comes during another read, as a reload', async () => {
    const fixture = await loadedStore();
    const gate = holdAnswers(fixture, 'get');
    const first = fixture.store.reload();
    await settle(20);
    const theirs = writeEntry('2/b', stateOf({ lastScaleUp: at(40) }));
    fixture.maps.edit(WEB_MAP, WEB_KEY, theirs);

    const reloads = [fixture.store.reload(), fixture.store.reload()];
    gate.letGo();
    await Promise.all([first, ...reloads]);

    expect(await fixture.store.read(WEB)).toMatchObject({ text: theirs });
  });
});
