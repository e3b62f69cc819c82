import type { Fault, ClusterMode } from './simulation/faults.js';
import { createRandom } from './simulation/random.js';

const MINUTE_MS = 60_000;

/** The queries next to those of metrics: the capacity of a pod, as written and as measured, and the ceiling. */
const PARTS = [
  { source: 'default', text: 'requests_per_pod' },
  { source: 'queues', text: 'promscaler_part' },
  { source: 'queues', text: 'pods_allowed' },
] as const;

/**
 * Schedules the faults of slow starts: half of the pods are removed, so that others start, and meanwhile metrics are
 * lost, no pod becomes ready, or all take longer; or one of the queries next to those of metrics finds nothing.
 */
export function scheduleSlowStarts(
  seed: number,
  { durationMs, isBusy }: { readonly durationMs: number; readonly isBusy: boolean },
): readonly Fault[] {
  const random = createRandom(seed).fork('slow starts');
  const faults: Fault[] = [];
  for (let startMs = 10 * MINUTE_MS; ;) {
    startMs += random.between(10, isBusy ? 30 : 120) * MINUTE_MS;
    const endMs = startMs + random.between(3, 40) * MINUTE_MS;
    if (endMs > durationMs) return faults;
    const target = random.pick(['web', 'api', 'worker', 'cart']);
    const ofTarget = (what: ClusterMode, from = startMs): Fault => ({
      ...{ startMs: from, endMs, kind: 'cluster', replica: 0, target, what },
    });
    const halved = ofTarget({ mode: 'foreign-write', factor: 0.5 }, startMs + 1000);
    const part = random.pick(PARTS);
    const lostMs = startMs + random.between(15, 240) * 1000;
    switch (random.pick(['lost metrics', 'never ready', 'slower', 'query', 'query', 'query'] as const)) {
      case 'lost metrics':
        for (const source of ['default', 'queues'])
          faults.push({ startMs: lostMs, endMs, kind: 'source', source, what: { mode: 'missing' } });
        faults.push(halved);
        break;
      case 'never ready':
        faults.push(ofTarget({ mode: 'never-ready' }), halved);
        break;
      case 'slower':
        faults.push(ofTarget({ mode: 'slow-start', seconds: random.integer(60, 300) }), halved);
        break;
      case 'query': {
        const what = { mode: 'query-missing', text: part.text } as const;
        faults.push({ startMs, endMs, kind: 'source', source: part.source, what });
        break;
      }
    }
    startMs = endMs;
  }
}
