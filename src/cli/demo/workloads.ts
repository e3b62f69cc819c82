import { configMapName, STATE_BUCKETS } from '../../kubernetes/state/key.js';
import type { WorkloadOptions } from '../../simulator/simulator.js';
import type { Curve } from '../../simulator/model/curves.js';
import { bursts, dailyWave, faster, flashCrowd } from '../../simulator/model/curves.js';

/** Where the workloads of the demo live. */
export const DEMO_NAMESPACE = 'shop';

/** Where the service itself would live. */
export const SERVICE_NAMESPACE = 'promscaler';

/** The ConfigMaps for the state of scalers, as the chart makes them in the namespace of the service. */
export function demoStateMaps(namespace = SERVICE_NAMESPACE): readonly {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string };
}[] {
  return Array.from({ length: STATE_BUCKETS }, (_, bucket) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: configMapName(bucket), namespace },
  }));
}

/**
 * Three workloads under load, as they are at the start: a web shop that is bound by cpu, a search whose pods take
 * requests, and a worker on a queue. `trace` takes the place of the shop's own daily wave.
 */
export function demoWorkloads(speed: number, trace: Curve | null): readonly WorkloadOptions[] {
  const timing = { startSeconds: 2, readySeconds: 2, terminationSeconds: 2, jitterRatio: 0.5 };
  return [
    {
      namespace: DEMO_NAMESPACE,
      name: 'checkout',
      replicas: 2,
      behavior: { timing, cpuSecondsPerRequest: 0.05, load: faster(trace ?? MORNING, speed) },
    },
    {
      kind: 'StatefulSet',
      namespace: DEMO_NAMESPACE,
      name: 'search',
      replicas: 2,
      behavior: { timing, cpuSecondsPerRequest: 0.01, load: faster(CROWD, speed) },
    },
    {
      namespace: DEMO_NAMESPACE,
      name: 'mailer',
      replicas: 1,
      behavior: { timing, requestsPerSecondPerPod: 4, queue: 'mails', load: faster(MAIL_BURSTS, speed) },
    },
  ];
}

const wave = dailyWave({ low: 15, high: 90, periodSeconds: 1800 });

/** A day of half an hour, entered where the morning begins. */
const MORNING: Curve = (seconds) => wave(seconds + 300);

const CROWD = flashCrowd({
  base: 30,
  peak: 150,
  atSeconds: 150,
  riseSeconds: 60,
  holdSeconds: 300,
  fallSeconds: 200,
});

const MAIL_BURSTS = bursts({ base: 2, peak: 20, everySeconds: 900, burstSeconds: 300 });
