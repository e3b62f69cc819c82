import { describe, expect, it } from '@jest/globals';
import { resolveServiceConfig } from '../../src/config/resolve-service-config.js';
import { decide } from '../../src/decision/decide.js';
import { parseSnapshot } from '../../src/decision/snapshot/parse-snapshot.js';
import { createMetricSource } from '../../src/prometheus/metric-source.js';
import { toSamples } from '../../src/prometheus/samples.js';
import { aClient, aDocument, at } from '../support/builders.js';
import { ManualClock } from '../support/manual-clock.js';
import { startRound, values } from './fakes.js';

const INTERVAL_SPAN_SECONDS = 120;
const SYNC_SECONDS = 15;

/** A sample of the CPU time of the pod, in seconds after its start. */
interface CpuSample {
  /** The timestamp of the sample. */
  readonly time: number;
  /** When a scrape has stored it. */
  readonly storedAt: number;
}

interface Case {
  readonly samples: readonly CpuSample[];
  readonly readyAfter: number;
  /** The first round of the service, in seconds after the start of the pod. */
  readonly firstRound: number;
}

/** Samples with the times of the scrapes. */
function scraped(interval: number, first: number): readonly CpuSample[] {
  return Array.from({ length: 60 }, (_, index) => {
    const time = first + index * interval;
    return { time, storedAt: time };
  });
}

/**
 * Samples with the times of the kubelet, which measures a busy container every 10 to 20 s, 15 s on average, whatever
 * the scrape interval (nextHousekeepingInterval in cAdvisor). kube-prometheus-stack keeps these times.
 */
function measured(interval: number, first: number, seed: number): readonly CpuSample[] {
  let time = (first * 7) % 10;
  return Array.from({ length: 60 }, (_, index) => {
    time += 10 + ((index * 7 + seed * 3) % 11);
    return { time, storedAt: first + Math.ceil((time - first) / interval) * interval };
  });
}

/** Returns after how many seconds from the start of the pod a decision has a value of the pod. */
async function secondsUntilActive({ samples, readyAfter, firstRound }: Case): Promise<number> {
  const clock = new ManualClock();
  const [source] = Object.values(resolveServiceConfig({}, null).prometheus);
  if (source === undefined) throw new Error('no data source');
  let seconds = firstRound;
  const stored = (spanSeconds: number): readonly number[] =>
    samples
      .filter(({ time, storedAt }) => storedAt <= seconds && time > seconds - spanSeconds)
      .map(({ time }) => time);
  const metrics = createMetricSource({
    sources: new Map([['default', source]]),
    clock,
    onQuery: () => undefined,
    createClient: (config) =>
      aClient(config, {
        startTime: () => Promise.resolve(at(-100_000)),
        query: (query) => {
          const isInterval = query.startsWith('quantile');
          const window = Number(/\[(\d+)s\]/.exec(query)?.[1]);
          const times = stored(isInterval ? INTERVAL_SPAN_SECONDS : window);
          const [oldest, newest] = [times[0], times.at(-1)];
          if (oldest === undefined || newest === undefined || oldest === newest)
            return Promise.resolve({ class: 'missing', message: 'no series' });
          const labels = isInterval
            ? { job: 'kubelet' }
            : { namespace: 'shop', pod: 'web-a', container: 'app' };
          const value = isInterval ? (newest - oldest) / (times.length - 1) : 0.5;
          return Promise.resolve(values([{ labels, value }], at(seconds)));
        },
      }),
  });
  for (; seconds < 600; seconds += SYNC_SECONDS) {
    const snapshot = parseSnapshot({
      scaler: aDocument({ scaleTargetRef: { name: 'web' }, maxReplicas: 10 }),
      now: new Date(at(seconds)).toISOString(),
      target: { specReplicas: 1, statusReplicas: 1 },
      pods: [
        {
          name: 'web-a',
          phase: 'Running',
          startTime: new Date(at(0)).toISOString(),
          ready: seconds >= readyAfter,
          readyChangedAt: new Date(at(seconds >= readyAfter ? readyAfter : 0)).toISOString(),
          requests: { app: { cpu: '1' } },
        },
      ],
      samples: [{ error: 'not known yet', kind: 'missing' }],
    });
    const { scaler, pods, now } = snapshot;
    metrics.setScalers([scaler]);
    const round = startRound(metrics, [scaler]);
    const answered = round.of(scaler);
    await clock.advanceAndSettle(SYNC_SECONDS * 1000);
    const known = toSamples(scaler, await answered, { pods, now, sources: round.sources });
    const { conditions } = decide({ ...snapshot, samples: known });
    if (conditions.some(({ type, status }) => type === 'ScalingActive' && status === 'True')) return seconds;
  }
  return Infinity;
}

/** Returns the shortest and the longest time for several phases of scrapes and rounds. */
async function rangeOf(samplesFrom: readonly (readonly CpuSample[])[]): Promise<readonly [number, number]> {
  const found: number[] = [];
  for (const samples of samplesFrom)
    for (const firstRound of [0, 4, 8, 12])
      found.push(await secondsUntilActive({ samples, readyAfter: READY_AFTER, firstRound }));
  return [Math.min(...found), Math.max(...found)];
}

const READY_AFTER = 5;
const PHASES = [0, 0.3, 0.6, 0.9];

/* README.md, step 5, has these times. */
describe('the CPU of a pod that is ready after 5 s, with an interval that is not known yet, counts', () => {
  it.each([
    [
      '55 to 70 s after its start with samples every 10 s',
      PHASES.map((phase) => scraped(10, 10 * phase)),
      50,
      70,
    ],
    [
      '80 to 120 s after its start with the times of the kubelet, which are 10 to 20 s apart',
      PHASES.flatMap((phase) => [0, 1, 2].map((seed) => measured(10, 10 * phase, seed))),
      80,
      120,
    ],
    ['within 3 min with samples every 30 s', PHASES.map((phase) => scraped(30, 30 * phase)), 150, 170],
  ] as const)('%s', async (_, samplesFrom, least, most) => {
    const [shortest, longest] = await rangeOf(samplesFrom);

    expect(shortest).toBeGreaterThanOrEqual(least);
    expect(longest).toBeLessThanOrEqual(most);
  });
});
