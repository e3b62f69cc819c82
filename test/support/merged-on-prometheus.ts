import fc from 'fast-check';
import { createPrometheusClient } from '../../src/prometheus/client/client.js';
import { isByPod } from '../../src/promql/by-pod.js';
import { realClock, startServer } from '../prometheus/fakes.js';
import { aSource } from './builders.js';
import { startFilled } from './filled-server.js';
import { compareWithAlone } from './merged-and-alone.js';
import { podQuery, type PodsSeries, randomWorkloads, writeQuery } from './pod-queries.js';
import type { WrittenSeries } from './remote-write.js';

const STEPS = 20;
const WORKLOADS = 120;

export interface PrometheusRun {
  readonly version: string;
  readonly compared: number;
  readonly differences: readonly string[];
  /** Workloads by the class of the answer to their own query. */
  readonly classes: Readonly<Record<string, number>>;
  readonly mostQueries: number;
}

/** Compares merged queries with those of each workload on a real Prometheus. */
export async function compareOnPrometheus(runs: number, seed: number): Promise<PrometheusRun> {
  const workloads = randomWorkloads(WORKLOADS, seed);
  const nowSeconds = Math.floor(Date.now() / 1000) - 2;
  const series = workloads.flatMap((one) => one.series.map((each) => writtenOf(each, nowSeconds)));
  const server = await startFilled('Prometheus', series);
  // All queries are evaluated at the same time.
  const proxy = await startServer((response, { url, form }) => {
    form.set('time', String(nowSeconds));
    void fetch(`${server.url}${url}`, { method: 'POST', body: form }).then(async (answer) =>
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text()),
    );
  });
  try {
    const client = createPrometheusClient(aSource({ urls: [proxy.url] }), realClock);
    const classes: Record<string, number> = {};
    const differences: string[] = [];
    let compared = 0;
    let mostQueries = 0;
    const cases = fc.sample(
      fc.tuple(
        podQuery.map(writeQuery).filter(isByPod),
        fc.subarray(Array.from(workloads.keys()), { minLength: 8, maxLength: 8 }),
      ),
      { numRuns: runs, seed },
    );
    for (const [written, indices] of cases) {
      const some = indices.flatMap((index) => workloads[index] ?? []);
      const comparison = await compareWithAlone(written, some, (query) =>
        client.query(query, { timeoutMs: 30_000 }),
      );
      compared += comparison.compared;
      differences.push(...comparison.differences);
      mostQueries = Math.max(mostQueries, comparison.sent.at(-1) ?? 0);
      for (const one of comparison.classes) classes[one] = (classes[one] ?? 0) + 1;
    }
    return { version: await versionOf(server.url), compared, differences, classes, mostQueries };
  } finally {
    await proxy.close();
    await server.stop();
  }
}

function writtenOf({ labels, kind, step }: PodsSeries, nowSeconds: number): WrittenSeries {
  const times = Array.from(
    { length: STEPS },
    (_, at) => [nowSeconds - 15 * (STEPS - 1 - at), at + 1] as const,
  );
  const isHistogram = (at: number): boolean => kind === 'histograms' || (kind === 'mixed' && at > STEPS - 4);
  return {
    labels,
    samples: times.filter(([, at]) => !isHistogram(at)).map(([seconds, at]) => [seconds, at * step] as const),
    histograms: times.filter(([, at]) => isHistogram(at)),
  };
}

async function versionOf(url: string): Promise<string> {
  const response = await fetch(`${url}/api/v1/status/buildinfo`);
  const { data } = (await response.json()) as { readonly data: { readonly version: string } };
  return data.version;
}
