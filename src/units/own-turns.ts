import { type Clock, sleep } from './clock.js';
import { createWorkQueue } from './work-queue.js';

/**
 * Returns a function that resolves in a later turn of the event loop, in which no other caller's promise resolves. Long
 * pieces of work that become ready at the same time then delay other work one by one, not all together.
 */
export function createOwnTurns(clock: Clock): () => Promise<void> {
  const turns = createWorkQueue<{ readonly begin: () => void }>(1, async ({ begin }) => {
    await sleep(clock, 0);
    begin();
  });
  return () => new Promise((resolve) => turns.add({ begin: resolve }));
}
