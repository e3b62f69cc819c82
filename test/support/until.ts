import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves once `condition` holds, asked every 100 ms; rejects after 30 s. */
export async function until(condition: () => Promise<boolean>, what = 'the condition'): Promise<void> {
  const endMs = Date.now() + 30_000;
  while (!(await condition())) {
    if (Date.now() > endMs) throw new Error(`${what} did not come about within 30 s`);
    await sleep(100);
  }
}
