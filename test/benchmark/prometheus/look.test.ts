import { describe, expect, it } from '@jest/globals';
import { costBetween, countsOn, cpuSecondsIn, residentBytesIn } from './look.js';

const PAGE = `prometheus_http_requests_total{code="200",handler="/api/v1/query"} 40
prometheus_http_requests_total{code="422",handler="/api/v1/query"} 2
prometheus_http_requests_total{code="200",handler="/api/v1/query_range"} 7
prometheus_http_requests_total{code="200",handler="/metrics"} 9
prometheus_engine_query_duration_seconds{slice="inner_eval",quantile="0.5"} 99
prometheus_engine_query_duration_seconds_sum{slice="inner_eval"} 1.5
prometheus_engine_query_duration_seconds_count{slice="inner_eval"} 42
prometheus_engine_query_duration_seconds_sum{slice="prepare_time"} 0.25
prometheus_engine_query_duration_seconds_sum{slice="queue_time"} 4
prometheus_engine_query_duration_seconds_sum{slice="result_sort"} 0.125
prometheus_tsdb_head_samples_appended_total{type="float"} 1000
prometheus_tsdb_head_samples_appended_total{type="histogram"} 1
prometheus_tsdb_head_series 350
prometheus_tsdb_head_series_created_total 400
`;

describe('a look at Prometheus', () => {
  it('counts instant queries by status, and their time in the engine without the queue', () => {
    expect(countsOn(PAGE)).toEqual({
      queries: 42,
      failedQueries: 2,
      engineSeconds: 1.875,
      queueSeconds: 4,
      appendedSamples: 1001,
      series: 350,
    });
  });

  it('rejects a page without these metrics: nothing is not zero', () => {
    expect(() => countsOn('up 1\n')).toThrow('prometheus_http_requests_total');
  });

  it('reads user and system time from /proc, whatever the program is called', () => {
    const rest = 'S 1 1 1 0 -1 4194560 5 0 0 0 1234 66 0 0 20 0 9 0 100 200 300';
    expect(cpuSecondsIn(`42 (prometheus) ${rest}`)).toBe(13);
    expect(cpuSecondsIn(`42 (a) b (c) ${rest}`)).toBe(13);
    expect(cpuSecondsIn('')).toBeNaN();
  });

  it('reads the resident memory from /proc', () => {
    expect(residentBytesIn('VmHWM:\t    3000 kB\nVmRSS:\t    2000 kB\n')).toBe(2_048_000);
    expect(residentBytesIn('')).toBeNaN();
  });

  it('has a cost between two looks', () => {
    const before = { atMs: 1000, cpuSeconds: 2, residentBytes: 7, ...countsOn(PAGE) };
    const after = { ...before, atMs: 31_000, cpuSeconds: 5, queries: 52, series: 360, engineSeconds: 2 };

    expect(costBetween(before, after)).toEqual({
      seconds: 30,
      cpuSeconds: 3,
      queries: 10,
      failedQueries: 0,
      engineSeconds: 0.125,
      queueSeconds: 0,
      appendedSamples: 0,
    });
  });
});
