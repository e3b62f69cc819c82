import type { Leadership } from '../../control/election/leadership.js';
import type { Transport } from '../../kubernetes/requests/transport.js';
import { createStateStore, stateInMemory } from '../../kubernetes/state/state-store.js';
import type { StateStore } from '../../kubernetes/state/state-store.js';

import type { Log } from '../../units/log.js';
import type { Clock } from '../../units/clock.js';
import type { OwnObjects } from './own-objects.js';

export interface StateOptions extends OwnObjects {
  readonly clock: Clock;
  readonly log: Log;
}

/** Where state outlives a crash; in memory alone where it is switched off, which is told. */
export function openState(
  { keepsState, namespace, clock, log }: StateOptions,
  transport: Transport,
  leadership: Leadership,
): StateStore {
  if (keepsState) {
    return createStateStore({
      transport,
      namespace,
      clock,
      log,
      leadership,
    });
  }
  log.info('the state of scalers is kept in memory alone: after a restart all windows begin anew');
  return stateInMemory();
}
