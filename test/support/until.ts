import { setTimeout as sleep } from 'node:timers/promises';

const INTERVAL_MS = 20;

/** Resolves once `condition` holds, which only asking shows: the change is in another process. Rejects after `seconds`. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what = 'the condition',
  seconds = 30,
): Promise<void> {
  const endMs = performance.now() + seconds * 1000;
  while (!(await condition())) {
    if (performance.now() > endMs) throw new Error(`${what} did not come about within ${seconds} s`);
    await sleep(INTERVAL_MS);
  }
}
