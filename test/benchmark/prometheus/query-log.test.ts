import { describe, expect, it } from '@jest/globals';
import { costOfKinds } from './query-log.js';

function line(query: string, evalTotalTime: number): string {
  return `${JSON.stringify({ params: { query }, stats: { timings: { evalTotalTime, execQueueTime: 9 } } })}\n`;
}

const OWN = 'sum by (pod) (rate(http_requests_total{namespace="a", pod=~"web-[a-z]+"}[2m]))';
const SHARED = 'sum by (service, pod) (rate(http_requests_total{namespace="a"}[2m]))';
const RESOURCE = 'sum by (namespace, pod, container) (rate(container_cpu_usage_seconds_total[2m]))';

describe('the query log', () => {
  it('gives number and time of each kind, the most frequent first', () => {
    const log = line(SHARED, 0.5) + line(OWN, 0.25) + line(OWN, 1) + line(RESOURCE, 2) + line('1', 0);

    expect(costOfKinds(log)).toEqual([
      { kind: 'own', queries: 2, engineSeconds: 1.25 },
      { kind: 'shared', queries: 1, engineSeconds: 0.5 },
      { kind: 'resource', queries: 1, engineSeconds: 2 },
      { kind: 'other', queries: 1, engineSeconds: 0 },
    ]);
  });

  it('leaves out a line that is still being written', () => {
    expect(costOfKinds(line(OWN, 1) + line(OWN, 1).slice(0, 20))).toEqual([
      { kind: 'own', queries: 1, engineSeconds: 1 },
    ]);
    expect(costOfKinds('')).toEqual([]);
  });
});
