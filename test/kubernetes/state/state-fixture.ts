import { createStateStore } from '../../../src/kubernetes/state/state-store.js';
import type { StateStore } from '../../../src/kubernetes/state/state-store.js';
import type { StoredState } from '../../../src/kubernetes/state/state-entry.js';
import type { Log } from '../../../src/units/log.js';
import { FakeStateMaps } from '../../control/fake-state-maps.js';
import { ManualClock } from '../../support/manual-clock.js';

/** Scaler `shop/web`, which is in bucket WEB_MAP. */
export const WEB = { namespace: 'shop', name: 'web' };
export const WEB_KEY = 'shop.web';
export const WEB_MAP = 'promscaler-state-04';

/** A store of ConfigMaps in memory, with its log. */
export class StateFixture {
  readonly clock: ManualClock;
  readonly maps: FakeStateMaps;
  readonly store: StateStore;
  readonly logged: { readonly level: string; readonly message: string; readonly facts: object }[] = [];
  epoch: string;
  whyNoWrites: string | null = null;

  constructor(
    options: { readonly maps?: FakeStateMaps; readonly clock?: ManualClock; readonly epoch?: string } = {},
  ) {
    this.maps = options.maps ?? new FakeStateMaps();
    this.clock = options.clock ?? new ManualClock();
    this.epoch = options.epoch ?? '1/a';
    this.store = createStateStore({
      transport: this.maps,
      namespace: 'promscaler',
      clock: this.clock,
      log: this.#log(),
      leadership: { epoch: () => this.epoch, whyNoWrites: () => this.whyNoWrites },
    });
  }

  #log(): Log {
    const at =
      (level: string) =>
      (message: string, facts: object = {}): void =>
        void this.logged.push({ level, message, facts });
    return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  }
}

/** Returns an empty state. */
export function stateOf(over: Partial<StoredState> = {}): StoredState {
  return {
    uid: 'uid-1',
    lastScaleUp: null,
    lastScaleDown: null,
    scaleEvents: [],
    zeroedBySelf: false,
    failingSince: new Map(),
    intent: null,
    ...over,
  };
}
