/**
 * Loaded into the service by `--import`, with `--expose-gc`: answers each message with the resources of the process.
 * The channel does not keep the process alive.
 */
import type { InsideSample } from './samples.js';

process.on('message', () => {
  const collect = (globalThis as { gc?: () => void }).gc;
  collect?.();
  const resources: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) resources[name] = (resources[name] ?? 0) + 1;
  const { heapUsed, rss } = process.memoryUsage();
  const listeners = process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0);
  process.send?.({ heapBytes: heapUsed, residentBytes: rss, resources, listeners } satisfies InsideSample);
});
process.channel?.unref();
