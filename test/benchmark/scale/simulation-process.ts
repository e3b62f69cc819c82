import { createApiServer } from './api-server.js';
import { createExporterPages } from './exporter-pages.js';
import { createExporterServer } from './exporter-server.js';
import { createMetricsServer } from './metrics-server.js';
import { listen } from './traffic.js';
import type { Traffic } from './traffic.js';
import type { SimulationSize } from './workloads.js';
import { createSimulationClock, REAL_TIME, timeAt } from './simulation-clock.js';
import type { ClockRate } from './simulation-clock.js';
import { createSimulation } from './simulation.js';

/**
 * API server, metrics server and exporter in their own process, so that their CPU time and memory are not the service's.
 * Ends with its parent.
 */
export type SimulationRequest =
  | { readonly type: 'start'; readonly size: SimulationSize }
  | { readonly type: 'set-rate'; readonly rate: ClockRate }
  | { readonly type: 'traffic' };

export type SimulationReply =
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
process.once('message', (message: SimulationRequest) => {
  if (message.type === 'start') void start(message.size);
});

async function start(size: SimulationSize): Promise<void> {
  let rate = REAL_TIME;
  const clock = createSimulationClock(() => timeAt(Date.now(), rate));
  const simulation = createSimulation(size, clock);
  const api = createApiServer(simulation, clock);
  const metrics = createMetricsServer(simulation, clock);
  const pages = createExporterPages(simulation, clock);
  setInterval(clock.tick, TICK_MS);
  const reply = (message: SimulationReply): void => void process.send?.(message);
  process.on('message', (message: SimulationRequest) => {
    switch (message.type) {
      case 'start':
        return;
      case 'set-rate':
        rate = message.rate;
        return;
      case 'traffic': {
        let pods = 0;
        for (const namespace of simulation.deployments.values())
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
