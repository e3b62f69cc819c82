import { describe, expect, it } from '@jest/globals';
import { writeEntry } from '../../../src/kubernetes/state/state-entry.js';
import type { KubernetesRequest } from '../../../src/kubernetes/requests/transport.js';
import { at } from '../../control/world.js';
import { settle } from '../../support/manual-clock.js';
import { StateRig, stateOf, WEB, WEB_KEY, WEB_MAP } from './state-rig.js';

/** Delays the answers to the next requests of this method, which are served at once; `letGo` delivers them. */
function holdAnswers(rig: StateRig, method: 'GET' | 'PATCH'): { readonly letGo: () => void } {
  const serve = rig.maps.request;
  let letGo = (): void => undefined;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  Object.assign(rig.maps, {
    request: async (request: KubernetesRequest) => {
      const answer = await serve(request);
      if (request.method === method) await held;
      return answer;
    },
  });
  return { letGo: () => letGo() };
}

/** A store that has read an entry of `shop/web`. */
async function loadedStore(): Promise<StateRig> {
  const rig = new StateRig();
  rig.maps.edit(WEB_MAP, WEB_KEY, writeEntry('1/a', stateOf({ lastScaleUp: at(0) })));
  await rig.store.load();
  return rig;
}

describe('the order of reads and writes of a ConfigMap', () => {
  it('keeps an entry that is written while a GET is under way, whose answer is late', async () => {
    const rig = await loadedStore();
    const { text } = await rig.store.read(WEB);
    let serve = (): void => undefined;
    const served = new Promise<void>((resolve) => (serve = resolve));
    rig.maps.before = ({ method }) => (method === 'PATCH' ? served : Promise.resolve());
    const gate = holdAnswers(rig, 'GET');
    const putting = rig.store.put({ scaler: WEB, base: text, state: stateOf({ lastScaleUp: at(30) }) });
    await settle(20);
    const reading = rig.store.reload();
    await settle(20);

    serve();
    await putting;
    gate.letGo();
    await reading;

    expect(await rig.store.read(WEB)).toMatchObject({ isOwn: true, entry: { lastScaleUp: at(30) } });
  });

  it('keeps an entry of another replica that is read while the answer to an earlier PATCH is late', async () => {
    const rig = await loadedStore();
    const { text } = await rig.store.read(WEB);
    const gate = holdAnswers(rig, 'PATCH');
    const putting = rig.store.put({ scaler: WEB, base: text, state: stateOf({ lastScaleUp: at(30) }) });
    await settle(20);
    const theirs = writeEntry('2/b', stateOf({ lastScaleUp: at(40) }));
    rig.maps.edit(WEB_MAP, WEB_KEY, theirs);

    const reading = rig.store.reload();
    await settle(20);
    gate.letGo();
    await Promise.all([reading, putting]);

    expect(await rig.store.read(WEB)).toMatchObject({ text: theirs, isOwn: false });
  });

  it('reads again for a reload that comes during another read, as a reload', async () => {
    const rig = await loadedStore();
    const gate = holdAnswers(rig, 'GET');
    const first = rig.store.reload();
    await settle(20);
    const theirs = writeEntry('2/b', stateOf({ lastScaleUp: at(40) }));
    rig.maps.edit(WEB_MAP, WEB_KEY, theirs);

    const reloads = [rig.store.reload(), rig.store.reload()];
    gate.letGo();
    await Promise.all([first, ...reloads]);

    expect(await rig.store.read(WEB)).toMatchObject({ text: theirs });
  });
});
