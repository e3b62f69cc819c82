import { at } from '../support/builders.js';
import { SILENT_LOG } from '../../src/units/log.js';
import { failed, FAILURE_REASONS } from '../../src/units/failure.js';
import { ManualClock } from '../support/manual-clock.js';
import { describe, expect, it } from '@jest/globals';
import { createLedger } from '../../src/telemetry/ledger.js';
import type { Ledger } from '../../src/telemetry/ledger.js';
import { METRIC_TABLE } from '../../src/telemetry/metric-table.js';
import { createRegistry } from '../../src/telemetry/metrics.js';
import type { Metrics } from '../../src/telemetry/metrics.js';
import { createRecords } from '../../src/telemetry/records.js';
import { invalidScalers, rejectionsOf } from '../../src/telemetry/rejections.js';
import { createRecorder } from '../../src/control/cycle/report.js';
import {
  CPU,
  MEMORY,
  NO_OUTAGES,
  QUEUE,
  condition,
  decision,
  limitStep,
  metricResult,
  metricsOf,
  record,
  scaler,
} from './record-builder.js';
import { problem } from '../control/status/status-builder.js';
import { decided } from './state-records.js';

describe('createMetrics', () => {
  it('exposes every row of the table with help and type before any cycle', async () => {
    const { metrics } = build();

    const text = String(Buffer.concat([...(await metrics.render())]));

    for (const { name, help, type } of METRIC_TABLE) {
      expect(text).toContain(`# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`);
    }
  });

  it('has counters at zero for all labels known in advance', async () => {
    const { metrics } = build();

    expect(await lines(metrics, /_total/)).toEqual([
      'promscaler_internal_errors_total 0',
      'promscaler_missed_rounds_total 0',
      'promscaler_recorded_decisions_total 0',
      'promscaler_record_dropped_decisions_total 0',
      'promscaler_record_write_errors_total 0',
      'promscaler_queries_total{source="default"} 0',
      ...errorCounts('promscaler_query_errors_total', 0),
      'promscaler_answer_series_total{source="default",labels="known"} 0',
      'promscaler_answer_series_total{source="default",labels="read"} 0',
      'promscaler_history_queries_total{source="default"} 0',
      ...errorCounts('promscaler_history_query_errors_total', 0),
      'promscaler_config_reloads_total 0',
    ]);
  });

  it('exposes all values of a decision', async () => {
    const { ledger, metrics } = build();
    ledger.add(
      record({
        scaler: scaler('web', [CPU, MEMORY, QUEUE]),
        decision: decision({
          currentReplicas: 3,
          desiredReplicas: 5,
          recommendedReplicas: 7,
          metrics: [
            metricResult(),
            metricResult({ name: 'memory', proposal: 2, current: { averageValue: 600.5 } }),
            metricResult({ name: 'queue-depth', proposal: 7, current: { value: 70 } }),
          ],
          limits: [limitStep({ until: at(300.5) }), limitStep({ limit: 'max_replicas', from: 7, to: 5 })],
        }),
        conditions: [condition(), condition({ type: 'Held', status: 'False', reason: 'NotHeld' })],
        dryRun: true,
        state: { lastScaleUp: at(-60) },
      }),
    );

    expect(await lines(metrics, /shop/)).toEqual(
      [
        'promscaler_scaler_state{OWNER,state="DryRun",severity="held"} 1',
        'promscaler_current_replicas{OWNER} 3',
        'promscaler_desired_replicas{OWNER} 5',
        'promscaler_recommended_replicas{OWNER} 7',
        'promscaler_min_replicas{OWNER} 1',
        'promscaler_max_replicas{OWNER} 10',
        'promscaler_ready_pods{OWNER} 0',
        'promscaler_metric_value{OWNER,metric="cpu",type="Resource"} 55',
        'promscaler_metric_value{OWNER,metric="app/memory",type="ContainerResource"} 600.5',
        'promscaler_metric_value{OWNER,metric="queue-depth",type="External"} 70',
        'promscaler_metric_target{OWNER,metric="cpu",type="Resource"} 60',
        'promscaler_metric_target{OWNER,metric="app/memory",type="ContainerResource"} 900',
        'promscaler_metric_target{OWNER,metric="queue-depth",type="External"} 30',
        'promscaler_metric_proposal_replicas{OWNER,metric="cpu",type="Resource"} 3',
        'promscaler_metric_proposal_replicas{OWNER,metric="app/memory",type="ContainerResource"} 2',
        'promscaler_metric_proposal_replicas{OWNER,metric="queue-depth",type="External"} 7',
        'promscaler_pods{OWNER,group="ready"} 2',
        'promscaler_pods{OWNER,group="unready"} 1',
        'promscaler_pods{OWNER,group="missing"} 0',
        'promscaler_pods{OWNER,group="ignored"} 1',
        'promscaler_limited{OWNER,limit="stabilization"} 1',
        'promscaler_limited{OWNER,limit="max_replicas"} 1',
        'promscaler_limit_end_timestamp_seconds{OWNER,limit="stabilization"} 1767225900.5',
        'promscaler_condition{OWNER,type="AbleToScale",status="True",reason="ReadyForNewScale"} 1',
        'promscaler_condition{OWNER,type="Held",status="False",reason="NotHeld"} 1',
        'promscaler_rescales_total{OWNER,direction="up"} 0',
        'promscaler_rescales_total{OWNER,direction="down"} 0',
        'promscaler_paused{OWNER} 0',
        'promscaler_dry_run{OWNER} 1',
      ].map((line) => line.replace('OWNER', 'namespace="shop",scaler="web"')),
    );
  });

  it('renders the page of 2,000 scalers in parts of at most 512 KiB, each but the last at least 256 KiB', async () => {
    const ledger = createLedger();
    for (let index = 0; index < 2000; index += 1) ledger.add(record({ scaler: scaler(`web-${index}`) }));

    const parts = await metricsOf(ledger).render();

    const sizes = parts.map(({ length }) => length);
    expect(sizes.length).toBeGreaterThan(5);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(512 * 1024);
    expect(Math.min(...sizes.slice(0, -1))).toBeGreaterThanOrEqual(256 * 1024);
    expect(String(Buffer.concat([...parts]))).toContain(
      'promscaler_dry_run{namespace="shop",scaler="web-1999"} 0\n',
    );
  });

  it('leaves out 6 metrics of scalers in a summary, with help and type, and no others', async () => {
    const ledger = createLedger();
    ledger.add(record({ decision: decision({ limits: [limitStep({ until: at(300) })] }) }));
    const full = await lines(metricsOf(ledger), /shop/);
    const left = await lines(metricsOf(ledger, { detail: 'summary' }), /./);
    const page = String(Buffer.concat([...(await metricsOf(ledger, { detail: 'summary' }).render())]));

    const omitted =
      /^promscaler_(ready_pods|metric_(value|target|proposal_replicas)|pods|limit_end_timestamp_seconds)\{/;
    expect(full.filter((line) => omitted.test(line))).toHaveLength(9);
    expect(left.filter((line) => /shop/.test(line))).toEqual(full.filter((line) => !omitted.test(line)));
    expect(
      METRIC_TABLE.filter(({ name }) => !page.includes(`# TYPE ${name} `)).map(({ name }) => name),
    ).toEqual([
      'promscaler_ready_pods',
      'promscaler_metric_value',
      'promscaler_metric_target',
      'promscaler_metric_proposal_replicas',
      'promscaler_pods',
      'promscaler_limit_end_timestamp_seconds',
    ]);
  });

  it('omits value and proposal of a metric without a value, and keeps its target', async () => {
    const { ledger, metrics } = build();
    const failing = metricResult({ error: failed('missing', 'no series'), proposal: null, current: {} });

    ledger.add(record({ decision: decision({ metrics: [failing], recommendedReplicas: null }) }));

    expect(await lines(metrics, /metric_|recommended/)).toEqual([
      'promscaler_metric_target{namespace="shop",scaler="web",metric="cpu",type="Resource"} 60',
    ]);
  });

  it('exposes the bounds, and no replicas, while the target cannot be read', async () => {
    const { ledger, metrics } = build();
    ledger.add(record());

    ledger.add(record({ snapshot: null, decision: null }));

    expect(await lines(metrics, /_replicas|_pods/)).toEqual([
      'promscaler_min_replicas{namespace="shop",scaler="web"} 1',
      'promscaler_max_replicas{namespace="shop",scaler="web"} 10',
    ]);
  });

  it('drops limit and condition of the previous cycle', async () => {
    const { ledger, metrics } = build();
    ledger.add(record({ decision: decision({ limits: [limitStep({ until: at(300) })] }) }));

    ledger.add(record({ conditions: [condition({ reason: 'SucceededRescale' })] }));

    expect(await lines(metrics, /promscaler_limit|condition\{/)).toEqual([
      'promscaler_condition{namespace="shop",scaler="web",type="AbleToScale",status="True",reason="SucceededRescale"} 1',
    ]);
  });

  it('has one state of each scaler: the current one, also of documents that were never valid', async () => {
    const ledger = createLedger();
    const rejected = [problem({ scaler: 'shop/web', message: 'unknown field', path: '' })];
    const rejections = rejectionsOf([...rejected, { ...problem({}), scaler: 'shop/typo' }]);
    const invalid = invalidScalers(rejections, new Set(['shop/web']));
    const states = (): Promise<readonly string[]> =>
      lines(metricsOf(ledger, { invalid: () => invalid }), /_state\{/);
    const typo = seriesOfState('typo', 'Invalid', 'cannot-follow');
    for (const name of ['web', 'api']) ledger.add(decided({})(name));
    const [web, api] = ['web', 'api'].map((name) => seriesOfState(name, 'OK', 'ok'));
    expect(await states()).toEqual([web, api, typo]);

    ledger.setRejections(rejections, at(7));
    expect(await states()).toEqual([seriesOfState('web', 'Rejected', 'held'), api, typo]);

    ledger.add({ ...decided({ percent: 90, spec: { maxReplicas: 4 } })('web'), at: at(15) });
    expect(await states()).toEqual([seriesOfState('web', 'AtMaximum', 'cannot-follow'), api, typo]);

    ledger.setRejections(new Map(), at(20));
    ledger.add({ ...decided({})('web'), at: at(30) });
    ledger.remove('shop/api');
    expect(await states()).toEqual([web, typo]);
  });

  it('has 1,000 states of 1,000 scalers in 100 bytes each', async () => {
    const ledger = createLedger();
    for (let index = 0; index < 1000; index += 1) ledger.add(decided({})(`web-${1000 + index}`));

    const states = await lines(metricsOf(ledger), /_state\{/);

    expect(states).toHaveLength(1000);
    expect(Math.max(...states.map(({ length }) => length + 1))).toBeLessThanOrEqual(100);
  });

  it('keeps no series of a removed scaler', async () => {
    const { ledger, metrics } = build();
    ledger.add(record());
    ledger.add(record({ scaler: scaler('api') }));

    ledger.remove('shop/web');

    expect(await lines(metrics, /"web"/)).toEqual([]);
    expect(await lines(metrics, /"api"/)).not.toEqual([]);
  });

  it('counts queries, requests, reloads and rounds', async () => {
    const { metrics } = build();

    metrics.observeQuery({ source: 'default', seconds: 0.3, failure: null, clockAheadSeconds: -2.5 });
    metrics.observeQuery({
      source: 'default',
      seconds: 10,
      failure: failed('timeout', 'late'),
      clockAheadSeconds: -2.5,
    });
    metrics.observeKubernetesRequest({
      verb: 'patch',
      resource: 'deployments/scale',
      code: '200',
      seconds: 0.02,
    });
    metrics.observeKubernetesRequest({ verb: 'watch', resource: 'pods', code: '200', seconds: null });
    metrics.recordReload(2);
    metrics.setLeader(true);
    metrics.observeLateness(0.2);
    metrics.countInternalError();
    metrics.countMissedRounds(3);
    metrics.setDuplicates('default', 2);
    for (const read of [2, 1]) metrics.countSeries('default', { known: 10, read });
    for (const reason of [null, 'timeout']) metrics.countHistoryQuery('default', reason);
    metrics.setDuplicates('default', 3);

    expect(await lines(metrics, /^promscaler_(?!.*_bucket)/)).toEqual([
      'promscaler_sync_duration_seconds_sum 0',
      'promscaler_sync_duration_seconds_count 0',
      'promscaler_sync_lateness_seconds_sum 0.2',
      'promscaler_sync_lateness_seconds_count 1',
      'promscaler_internal_errors_total 1',
      'promscaler_missed_rounds_total 3',
      'promscaler_recorded_decisions_total 0',
      'promscaler_record_dropped_decisions_total 0',
      'promscaler_record_write_errors_total 0',
      'promscaler_queries_total{source="default"} 2',
      'promscaler_query_duration_seconds_sum{source="default"} 10.3',
      'promscaler_query_duration_seconds_count{source="default"} 2',
      ...errorCounts('promscaler_query_errors_total', 1),
      'promscaler_answer_series_total{source="default",labels="known"} 20',
      'promscaler_answer_series_total{source="default",labels="read"} 3',
      'promscaler_history_queries_total{source="default"} 2',
      ...errorCounts('promscaler_history_query_errors_total', 1),
      'promscaler_source_clock_ahead_seconds{source="default"} -2.5',
      'promscaler_source_duplicate_series{source="default"} 3',
      'promscaler_kubernetes_requests_total{verb="patch",resource="deployments/scale",code="200"} 1',
      'promscaler_kubernetes_requests_total{verb="watch",resource="pods",code="200"} 1',
      'promscaler_kubernetes_request_duration_seconds_sum{verb="patch",resource="deployments/scale",code="200"} 0.02',
      'promscaler_kubernetes_request_duration_seconds_count{verb="patch",resource="deployments/scale",code="200"} 1',
      'promscaler_config_reloads_total 1',
      'promscaler_config_last_reload_successful 0',
      'promscaler_config_problems 2',
      'promscaler_leader 1',
      'promscaler_build_info{version="1.2.3"} 1',
    ]);
  });

  it('exposes 1,000 scalers, each once, however often they were recorded', async () => {
    const { ledger, metrics } = build();
    const recorder = createRecorder({
      ...createRecords(new ManualClock()),
      ledger,
      metrics,
      log: SILENT_LOG,
      outages: NO_OUTAGES,
    });
    const records = Array.from({ length: 1000 }, (_, index) => record({ scaler: scaler(`web-${index}`) }));

    for (const one of [...records, ...records]) recorder.add(one);

    const text = String(Buffer.concat([...(await metrics.render())]));
    expect(text.match(/^promscaler_current_replicas\{/gm)).toHaveLength(1000);
  });
});

describe('createRegistry', () => {
  it('has process metrics only if requested', async () => {
    const withProcess = await createRegistry({ process: true }).metrics();
    const without = await createRegistry({ process: false }).metrics();

    expect(withProcess).toContain('process_cpu_user_seconds_total');
    expect(without.trim()).toBe('');
  });
});

describe('METRIC_TABLE', () => {
  it('has each help as one sentence, seconds in base units and _total only on counters', () => {
    for (const { name, help, type } of METRIC_TABLE) {
      expect(help).toMatch(/^[A-Z][^.]*\.$/);
      expect(name.endsWith('_total')).toBe(type === 'counter');
      expect(name).toMatch(/^promscaler_[a-z_]+$/);
    }
  });
});

function seriesOfState(name: string, state: string, severity: string): string {
  return `promscaler_scaler_state{namespace="shop",scaler="${name}",state="${state}",severity="${severity}"} 1`;
}

function build(): { readonly ledger: Ledger; readonly metrics: Metrics } {
  const ledger = createLedger();
  return { ledger, metrics: metricsOf(ledger) };
}

/** Returns the counters of failed queries, by reason; those of other reasons than timeout are 0. */
function errorCounts(name: string, timeouts: number): readonly string[] {
  return FAILURE_REASONS.map(
    (reason) => `${name}{source="default",reason="${reason}"} ${reason === 'timeout' ? timeouts : 0}`,
  );
}

async function lines(metrics: Metrics, pattern: RegExp): Promise<readonly string[]> {
  const text = String(Buffer.concat([...(await metrics.render())]));
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#') && pattern.test(line));
}
