import { createApiServer } from './api-server.js';
import { createExporterPages } from './exporter-pages.js';
import { createExporterServer } from './exporter-server.js';
import { createMetricsServer } from './metrics-server.js';
import { listen } from './traffic.js';
import type { Traffic } from './traffic.js';
import type { WorldSize } from './workloads.js';
import { createWorldClock, REAL_TIME, timeAt } from './world-clock.js';
import type { ClockRate } from './world-clock.js';
import { createWorld } from './world.js';

/**
 * API server, metrics server and exporter in their own process, so that their CPU time and memory are not the service's.
 * Ends with its parent.
 */
export type WorldRequest =
  | { readonly type: 'start'; readonly size: WorldSize }
  | { readonly type: 'set-rate'; readonly rate: ClockRate }
  | { readonly type: 'traffic' };

export type WorldReply =
  | {
      readonly type: 'started';
      readonly kubernetesUrl: string;
      readonly prometheusUrl: string;
      /** Of the pages `/pages/0` and so on, for a real Prometheus. */
      readonly exporterUrl: string;
      readonly exporterPages: number;
    }
  | { readonly type: 'traffic'; readonly api: Traffic; readonly metrics: Traffic; readonly pods: number };

const TICK_MS = 100;

process.on('disconnect', () => process.exit());
process.once('message', (message: WorldRequest) => {
  if (message.type === 'start') void start(message.size);
});

async function start(size: WorldSize): Promise<void> {
  let rate = REAL_TIME;
  const clock = createWorldClock(() => timeAt(Date.now(), rate));
  const world = createWorld(size, clock);
  const api = createApiServer(world, clock);
  const metrics = createMetricsServer(world, clock);
  const pages = createExporterPages(world, clock);
  setInterval(clock.tick, TICK_MS);
  const reply = (message: WorldReply): void => void process.send?.(message);
  process.on('message', (message: WorldRequest) => {
    switch (message.type) {
      case 'start':
        return;
      case 'set-rate':
        rate = message.rate;
        return;
      case 'traffic': {
        let pods = 0;
        for (const namespace of world.deployments.values())
          for (const deployment of namespace.values()) pods += deployment.pods.size;
        reply({ type: 'traffic', api: api.meter.traffic(), metrics: metrics.meter.traffic(), pods });
        return;
      }
      default:
        message satisfies never;
    }
  });
  const kubernetesUrl = await listen(api.server);
  const prometheusUrl = await listen(metrics.server);
  const exporterUrl = await listen(createExporterServer(pages));
  reply({ type: 'started', kubernetesUrl, prometheusUrl, exporterUrl, exporterPages: pages.count });
}
