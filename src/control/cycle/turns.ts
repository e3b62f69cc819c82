import { createSemaphore } from '../../units/semaphore.js';

export interface Turns {
  /** Waits for a free slot and a responsive event loop. Resolves with a function that frees the slot. */
  readonly take: () => Promise<() => void>;
  readonly isIdle: () => boolean;
}

const MAX_CHANGES_IN_FLIGHT = 10;

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
