import type { Shards } from '../control/sharding/shards.js';
import type { Transport } from '../kubernetes/requests/transport.js';
import { createStateStore, stateInMemory } from '../kubernetes/state/state-store.js';
import type { StateStore } from '../kubernetes/state/state-store.js';
import type { Log } from '../units/log.js';
import type { Clock } from '../units/clock.js';
import type { OwnObjects } from './own-objects.js';

interface StateOptions extends OwnObjects {
  readonly clock: Clock;
  readonly log: Log;
}

export function openState(
  { keepsState, namespace, clock, log }: StateOptions,
  transport: Transport,
  shards: Shards,
): StateStore {
  if (keepsState) {
    return createStateStore({
      transport,
      namespace,
      clock,
      log,
      leadership: shards,
      leadershipOf: shards.leadershipOf,
    });
  }
  log.info('state is not persisted: stabilization windows restart with the process');
  return stateInMemory();
}
