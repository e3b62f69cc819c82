import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen, shut } from '../../../src/simulator/sockets.js';

/** A Prometheus with the history of one workload: its cpu usage in cores, with two waves and noise. */
export interface HistoryServer {
  readonly url: string;
  readonly close: () => Promise<void>;
}

const HOUR = 3600;

/** Of the whole workload, by Unix time in seconds; the noise is the same in each run. */
function coresAt(second: number): number {
  const wave = (hours: number): number => Math.sin((2 * Math.PI * second) / (hours * HOUR));
  const noise = Math.sin(second * 12.9898) * 43_758.5453;
  return 10 + 6 * wave(24) + 2 * wave(1.7) + 2 * (noise - Math.floor(noise) - 0.5);
}

function valueAt(query: string, second: number): number | null {
  if (query.includes('resource_requests') || query.includes('resource_limits')) return 1;
  // No container has two series.
  if (query.includes('container_cpu')) return query.startsWith('sum') ? coresAt(second) : null;
  if (query.includes('kube_deployment_spec_replicas')) return 16;
  return null;
}

/** Refuses more than 11,000 points, as Prometheus does. */
export async function startHistoryServer(): Promise<HistoryServer> {
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const form = new URLSearchParams(body === '' ? request.url?.split('?')[1] : body);
      const [start = 0, end = 0, step = 1] = ['start', 'end', 'step'].map((name) => Number(form.get(name)));
      const query = form.get('query') ?? '';
      response.setHeader('content-type', 'application/json');
      if (!form.has('step') || (end - start) / step > 11_000) {
        response.writeHead(400).end(JSON.stringify({ status: 'error', errorType: 'bad_data', error: 'no' }));
        return;
      }
      const values: (readonly [number, string])[] = [];
      for (let second = start; second <= end; second += step) {
        const value = valueAt(query, second);
        if (value !== null) values.push([second, value.toFixed(4)]);
      }
      const metric = { promscaler_target: 'yes', container: 'app' };
      const result = values.length === 0 ? [] : [{ metric, values }];
      response.end(JSON.stringify({ status: 'success', data: { resultType: 'matrix', result } }));
    });
  });
  return { url: await listen(server, 0), close: () => shut(server) };
}
