import { createSemaphore } from '../../units/semaphore.js';

/** Limits the changes of replicas in flight over all scalers. */
export interface Turns {
  /** Waits for a free place and a responsive event loop; resolves with a function that frees the place. */
  readonly take: () => Promise<() => void>;
  /** Whether no change is in flight. */
  readonly isIdle: () => boolean;
}

const MAX_CHANGES_IN_FLIGHT = 10;

/** Creates the turns; `untilSteady` resolves when the event loop keeps up. */
export function createTurns(untilSteady: () => Promise<void>): Turns {
  const changes = createSemaphore(MAX_CHANGES_IN_FLIGHT);
  return {
    take: async () => {
      const release = await changes.acquire();
      await untilSteady();
      return release;
    },
    isIdle: () => changes.held() === 0,
  };
}
