import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import { constant } from '../../src/simulator/controllers/load.js';
import { startSimulator } from '../../src/simulator/simulator.js';
import type { Simulator } from '../../src/simulator/simulator.js';
import { listen } from '../../src/simulator/sockets.js';
import type { ClusterAddresses, RequestCounts } from './cluster.js';
import { allWorkloads, PODS_PER_WORKLOAD, REQUESTS_PER_SECOND_PER_POD } from './workloads.js';

/**
 * Runs the cluster in its own process, so that its cpu time is not the service's. Sends its addresses, answers every
 * message with the requests counted so far, and ends with its parent, however that ends.
 */
process.on('disconnect', () => process.exit());

const workloads = allWorkloads();
const simulator = await startSimulator({
  clock: SYSTEM_CLOCK,
  seed: 0.5,
  requestLogSize: 100_000,
  workloads: workloads.map((workload) => ({
    ...workload,
    replicas: PODS_PER_WORKLOAD,
    behavior: { load: constant(PODS_PER_WORKLOAD * REQUESTS_PER_SECOND_PER_POD) },
  })),
});
const gatewayUrl = await listen(gatewayOf(simulator), 0);
const addresses: ClusterAddresses = { url: simulator.url, sdUrl: `${simulator.sdUrl}/cadvisor`, gatewayUrl };
process.send?.(addresses);
process.on('message', () => process.send?.(countRequests(simulator)));

function countRequests({ requests }: Simulator): RequestCounts {
  const counts: Record<string, number> = {};
  for (const { verb, method, resource, subresource, path } of requests()) {
    const what = verb === null ? `${method} ${path}` : `${verb} ${resource}`;
    const key = subresource === '' ? what : `${what}/${subresource}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

/**
 * Serves the requests of all pods on one page, as the exporter of a gateway does: 5,000 targets that Prometheus scrapes
 * one by one would leave no cpu for the measured service.
 */
function gatewayOf({ describe }: Simulator): Server {
  const startMs = performance.now();
  return createServer((_, response) => {
    const requests = ((performance.now() - startMs) / 1000) * REQUESTS_PER_SECOND_PER_POD;
    const lines = workloads.flatMap((workload) =>
      describe(workload).pods.map(
        (pod) =>
          `http_requests_total{namespace="${workload.namespace}",service="${workload.name}",pod="${pod}"} ${requests}`,
      ),
    );
    response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' });
    response.end(`# TYPE http_requests_total counter\n${lines.join('\n')}\n`);
  });
}
