import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { stringify } from 'yaml';
import { SYSTEM_CLOCK } from '../src/cli/system-clock.js';
import { RESOURCE_QUERIES } from '../src/config/default-queries.js';
import { substitute } from '../src/promql/variables.js';
import { readScalers } from '../src/scaler/read/read-scalers.js';
import { codeBlocksOf } from './docs/code-blocks.js';
import { readPage, tableRows } from './docs/pages.js';
import { findPromtool } from './programs/find-programs.js';

/** The first run on a machine downloads promtool. */
jest.setTimeout(300_000);

const PAGES = ['recipes', 'queues', 'models-on-gpus', 'mesh-and-opentelemetry'].map(
  (name) => `docs/guides/${name}.md`,
);
const BLOCKS = PAGES.flatMap(codeBlocksOf);

/** The queries of the pages: those of documents by the name of the metric, others by their first line. */
const QUERIES = new Map(
  BLOCKS.flatMap(({ language, text }) => {
    if (language === 'promql') return [[text.trim().split('\n').join(' '), text.trim()] as const];
    if (language !== 'yaml' || !/^kind: Scaler$/m.test(text)) return [];
    return readScalers(text, 'page').scalers.flatMap(({ name, spec }) =>
      spec.metrics.flatMap((metric) =>
        'query' in metric ? [[`${name}: ${metric.name}`, metric.query] as const] : [],
      ),
    );
  }),
);

interface Case {
  /** Series in the notation of promtool, one sample per 30 s; all have started 15 minutes ago. */
  readonly series: Readonly<Record<string, string>>;
  readonly answer: readonly { readonly labels: string; readonly value: number }[];
  readonly at?: string;
}

const POD = 'web-5d9c8b7f6-x2x4z';
const inPod = (more = ''): string => `{namespace="shop",pod="${POD}"${more}}`;
const ofOther = (name: string): string => `${name}{namespace="shop",pod="other-5d9c8b7f6-x2x4z"}`;
const total = (value: number): Case['answer'] => [{ labels: '{}', value }];
const perPod = (value: number): Case['answer'] => [{ labels: `{pod="${POD}"}`, value }];
const OTEL = `k8s_namespace_name="shop",k8s_pod_name="${POD}"`;
const otelAnswer = [{ labels: `{k8s_pod_name="${POD}",pod="${POD}"}`, value: 10 }];
const istio = (reporter: string): string =>
  `{reporter="${reporter}",destination_workload="web",destination_workload_namespace="shop"}`;
const waiting = 'aws_sqs_approximate_number_of_messages_visible_average';
const inProgress = 'aws_sqs_approximate_number_of_messages_not_visible_average';

/** Running and waiting requests of two pods, and of another workload. */
const inferenceServer = (running: string, waiting: string, labels = ''): Case => ({
  series: {
    [`${running}${inPod(labels)}`]: '30x40',
    [`${waiting}${inPod(labels)}`]: '10x40',
    [`${running}{namespace="shop",pod="web-5d9c8b7f6-abcde"${labels}}`]: '35x40',
    [`${waiting}{namespace="shop",pod="web-5d9c8b7f6-abcde"${labels}}`]: '0x40',
    [ofOther(running)]: '99x40',
    [ofOther(waiting)]: '99x40',
  },
  answer: total(75),
});

const CASES: Readonly<Record<string, Case>> = {
  'vllm: requests-in-progress': inferenceServer('vllm:num_requests_running', 'vllm:num_requests_waiting'),
  'vllm: kv-cache': {
    series: {
      [`vllm:kv_cache_usage_perc${inPod()}`]: '0.9x40',
      'vllm:kv_cache_usage_perc{namespace="shop",pod="web-5d9c8b7f6-abcde"}': '0.5x40',
      [ofOther('vllm:kv_cache_usage_perc')]: '1x40',
    },
    answer: total(0.7),
  },
  'sglang: requests-in-progress': {
    series: {
      [`sglang:num_running_reqs${inPod(',tp_rank="0"')}`]: '30x40',
      [`sglang:num_running_reqs${inPod(',tp_rank="1"')}`]: '30x40',
      [`sglang:num_queue_reqs${inPod(',tp_rank="0"')}`]: '10x40',
      [`sglang:num_queue_reqs${inPod(',tp_rank="1"')}`]: '10x40',
    },
    answer: total(40),
  },
  'tgi: requests-in-progress': inferenceServer('tgi_batch_current_size', 'tgi_queue_size'),
  'triton: requests-in-progress': {
    series: {
      // 30 s of requests within 30 s for each request in progress.
      [`nv_inference_request_duration_us${inPod(',model="ranker",version="1"')}`]: '0+240000000x40',
      [`nv_inference_request_duration_us${inPod(',model="tokenizer",version="1"')}`]: '0+90000000x40',
    },
    answer: total(8),
  },
  'sglang-agg-decode: requests-in-progress': {
    series: {
      'dynamo_frontend_inflight_requests{dynamo_namespace="serving-sglang-agg",model="a"}': '40x40',
      'dynamo_frontend_inflight_requests{dynamo_namespace="serving-sglang-agg",model="b"}': '20x40',
      'dynamo_frontend_inflight_requests{dynamo_namespace="serving-other",model="a"}': '99x40',
    },
    answer: total(60),
  },
  'llama: running': {
    series: {
      'llm_d_epp_running_requests{namespace="shop",model_name="llama",instance="a"}': '80x40',
      'llm_d_epp_running_requests{namespace="shop",model_name="llama",instance="b"}': '0x40',
      'inference_objective_running_requests{namespace="shop",model_name="llama",instance="a"}': '80x40',
    },
    answer: total(80),
  },
  'gemma: requests': {
    series: {
      'inference_objective_request_total{namespace="shop",model_name="gemma",target_model_name="a"}':
        '0+1200x40',
      'inference_objective_request_total{namespace="shop",model_name="gemma",target_model_name="b"}':
        '0+720x40',
      'inference_objective_request_total{namespace="shop",model_name="llama",target_model_name="a"}':
        '0+900x40',
    },
    answer: total(64),
  },
  'mistral: waiting-in-gateway': {
    series: {
      'inference_extension_flow_control_queue_size{inference_pool="mistral",priority="0"}': '3x40',
      'inference_extension_flow_control_queue_size{inference_pool="mistral",priority="1"}': '2x40',
      'inference_extension_flow_control_queue_size{inference_pool="llama",priority="0"}': '9x40',
    },
    answer: total(5),
  },
  'mistral: running': {
    series: { 'inference_objective_running_requests{model_name="mistral"}': '12x40' },
    answer: total(12),
  },
  'qwen: requests-in-progress': inferenceServer('vllm:num_requests_running', 'vllm:num_requests_waiting'),
  'ray-chat: requests-in-progress': inferenceServer(
    'ray_serve_replica_processing_queries',
    'ray_serve_deployment_queued_queries',
    ',deployment="chat"',
  ),
  'detector: gpu-active': {
    series: {
      // A pod with two GPUs, on a node whose exporter is the pod of the label `pod`.
      [`DCGM_FI_PROF_GR_ENGINE_ACTIVE{pod="dcgm-x",namespace="gpu",exported_namespace="shop",exported_pod="${POD}",gpu="0"}`]:
        '0.8x40',
      [`DCGM_FI_PROF_GR_ENGINE_ACTIVE{pod="dcgm-x",namespace="gpu",exported_namespace="shop",exported_pod="${POD}",gpu="1"}`]:
        '0.6x40',
      'DCGM_FI_PROF_GR_ENGINE_ACTIVE{pod="dcgm-x",namespace="gpu",exported_namespace="pay",exported_pod="web-1"}':
        '1x40',
    },
    answer: [{ labels: `{exported_pod="${POD}",pod="${POD}"}`, value: 0.7 }],
  },
  'deepseek: requests-in-progress': {
    series: {
      'vllm:num_requests_running{namespace="shop",pod="web-0"}': '50x40',
      'vllm:num_requests_waiting{namespace="shop",pod="web-0"}': '10x40',
      'vllm:num_requests_running{namespace="shop",pod="web-1"}': '40x40',
      'vllm:num_requests_waiting{namespace="shop",pod="web-1"}': '0x40',
      'vllm:num_requests_running{namespace="shop",pod="web-1-1"}': '40x40',
      'vllm:num_requests_waiting{namespace="shop",pod="web-1-1"}': '0x40',
    },
    answer: total(100),
  },
  'storefront: ingress-requests': {
    series: {
      'nginx_ingress_controller_requests{namespace="ingress",exported_namespace="shop",ingress="storefront",status="200"}':
        '0+1200x40',
      'nginx_ingress_controller_requests{namespace="ingress",exported_namespace="shop",ingress="storefront",status="500"}':
        '0+300x40',
      'nginx_ingress_controller_requests{namespace="ingress",exported_namespace="pay",ingress="storefront"}':
        '0+300x40',
    },
    answer: total(50),
  },
  'api: requests-in-flight': {
    series: {
      [`http_request_duration_seconds_sum${inPod(',path="/a"')}`]: '0+120x40',
      [`http_request_duration_seconds_sum${inPod(',path="/b"')}`]: '0+120x40',
      [ofOther('http_request_duration_seconds_sum')]: '0+120x40',
    },
    answer: perPod(8),
  },
  'api-p95: requests-in-flight': {
    series: { [`http_request_duration_seconds_sum${inPod()}`]: '0+240x40' },
    answer: perPod(8),
  },
  'api-p95: p95-seconds': {
    series: {
      [`http_request_duration_seconds_bucket${inPod(',le="0.5"')}`]: '0+90x40',
      [`http_request_duration_seconds_bucket${inPod(',le="1"')}`]: '0+100x40',
      [`http_request_duration_seconds_bucket${inPod(',le="+Inf"')}`]: '0+100x40',
    },
    answer: total(0.75),
  },
  'shopfront: requests-now': {
    series: { [`http_requests_total${inPod()}`]: '0+300x40', [ofOther('http_requests_total')]: '0+300x40' },
    answer: total(10),
  },
  'shopfront: requests-last-week': {
    series: { 'http_requests_total{namespace="shop",pod="web-77d9958447-abcde"}': '0+300x40' },
    at: '7d',
    answer: total(10),
  },
  'ledger: open-bookings': {
    series: { 'ledger_open_bookings{branch="a"}': '70x40', 'ledger_open_bookings{branch="b"}': '30x40' },
    answer: total(100),
  },
  'orders: consumer-lag': {
    series: {
      'kafka_consumergroup_lag{consumergroup="orders",topic="orders",partition="0"}': '700x40',
      'kafka_consumergroup_lag{consumergroup="orders",topic="orders",partition="1"}': '300x40',
      'kafka_consumergroup_lag{consumergroup="orders",topic="orders",partition="2"}': '-1x40',
      'kafka_consumergroup_lag{consumergroup="audit",topic="orders",partition="0"}': '5000x40',
    },
    answer: total(1000),
  },
  'jobs: jobs': {
    series: {
      'jobs_received_total{instance="a"}': '0+960x40',
      'jobs_received_total{instance="b"}': '0+960x40',
    },
    answer: total(64),
  },
  'sum(kminion_kafka_consumer_group_topic_lag{group_id="orders", topic_name="orders"})': {
    series: {
      'kminion_kafka_consumer_group_topic_lag{group_id="orders",topic_name="orders"}': '1000x40',
      'kminion_kafka_consumer_group_topic_lag{group_id="audit",topic_name="orders"}': '5000x40',
    },
    answer: total(1000),
  },
  'invoices: queue-depth': {
    series: {
      'rabbitmq_detailed_queue_messages{vhost="/",queue="invoices",instance="rabbit-0"}': '60x40',
      'rabbitmq_detailed_queue_messages{vhost="/",queue="invoices",instance="rabbit-1"}': '60x40',
      'rabbitmq_detailed_queue_messages{vhost="/",queue="mail",instance="rabbit-1"}': '900x40',
    },
    answer: total(60),
  },
  'thumbnails: queue-depth': {
    series: {
      [`${waiting}{dimension_QueueName="thumbnails",instance="a"}`]: '70x40',
      [`${waiting}{dimension_QueueName="thumbnails",instance="b"}`]: '70x40',
      [`${inProgress}{dimension_QueueName="thumbnails",instance="a"}`]: '30x40',
      [`${waiting}{dimension_QueueName="other",instance="a"}`]: '900x40',
    },
    answer: total(100),
  },
  'reviews: requests-per-second': {
    series: {
      [`istio_requests_total${istio('destination')}`]: '0+300x40',
      [`istio_requests_total${istio('source')}`]: '0+300x40',
    },
    answer: total(10),
  },
  'sum(rate(istio_request_duration_milliseconds_sum{reporter="destination", destination_workload="$name", destination_workload_namespace="$namespace"}[2m])) / 1000':
    {
      series: { [`istio_request_duration_milliseconds_sum${istio('destination')}`]: '0+240000x40' },
      answer: total(8),
    },
  'voting: requests-per-second': {
    series: {
      [`request_total${inPod(',direction="inbound"')}`]: '0+300x40',
      [`request_total${inPod(',direction="outbound"')}`]: '0+300x40',
    },
    answer: perPod(10),
  },
  'catalog: requests-per-second': {
    series: { [`http_server_request_duration_seconds_count{${OTEL}}`]: '0+300x40' },
    answer: otelAnswer,
  },
  'label_replace(sum by (k8s_pod_name) (   rate(http_server_request_duration_seconds_count[4m])   * on (job, instance) group_left (k8s_pod_name) target_info{k8s_namespace_name="$namespace", k8s_pod_name=~"$pods"} ), "pod", "$1", "k8s_pod_name", "(.+)")':
    {
      series: {
        'http_server_request_duration_seconds_count{job="catalog",instance="1"}': '0+300x40',
        [`target_info{job="catalog",instance="1",${OTEL}}`]: '1x40',
      },
      answer: otelAnswer,
    },
};

/** The values that the kind of the target would give. */
const VALUES = { namespace: 'shop', name: 'web', pods: 'web-[a-z0-9]+-[a-z0-9]{5}', object: 'storefront' };

const directory = mkdtempSync(join(tmpdir(), 'docs-queries-'));
let promtool = '';

beforeAll(async () => {
  promtool = await findPromtool({ env: process.env, clock: SYSTEM_CLOCK });
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Evaluates all cases in one run of promtool, at multiples of `step`, and returns what it reports. */
function check(cases: readonly (Case & { readonly query: string })[], step = '1m'): string {
  const tests = cases.map(({ series, query, answer, at = '15m' }) => ({
    interval: '30s',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: [{ expr: `round(${query}, 0.001)`, eval_time: at, exp_samples: answer }],
  }));
  const file = join(directory, 'tests.yaml');
  writeFileSync(file, stringify({ rule_files: [], evaluation_interval: step, tests }));
  const { stdout, stderr } = spawnSync(promtool, ['test', 'rules', file], { encoding: 'utf8' });
  return `${stdout}${stderr}`.replaceAll(file, 'FILE').trim();
}

describe('the queries of the recipes', () => {
  it('all have a case', () => {
    expect([...QUERIES.keys()].sort()).toEqual(Object.keys(CASES).sort());
  });

  it('return these values in Prometheus', () => {
    const cases = Object.entries(CASES).map(([name, one]) => ({
      ...one,
      query: substitute(QUERIES.get(name) ?? '', VALUES),
    }));

    expect(check(cases)).toMatch(/SUCCESS$/);
  });

  it('have a different value for other data', () => {
    const query = 'sum(ledger_open_bookings)';

    expect(check([{ series: { ledger_open_bookings: '1x40' }, query, answer: total(2) }])).toContain(
      'FAILED',
    );
  });

  it('of CPU rise in the steps that the recipe shows', () => {
    const [, ...shown] = tableRows(readPage('docs/guides/recipes.md'), 'scrapes after the change')[0] ?? [];
    const query = substitute(RESOURCE_QUERIES.cpu, { namespaces: 'shop', window: '120s' });
    const labels = `{container="app",namespace="shop",pod="${POD}"}`;
    const steps = shown.map((cores, index) => ({
      // 0.5 cores for 10 minutes, then 1 core.
      series: { [`container_cpu_usage_seconds_total${labels}`]: '0+15x20 330+30x20' },
      query,
      // 10 s after a scrape: at the moment of one, versions of Prometheus differ in whether a range has 4 or 5 samples.
      at: `${610 + index * 30}s`,
      answer: [{ labels, value: Number(cores) }],
    }));

    expect(steps).toHaveLength(4);
    expect(check(steps, '10s')).toMatch(/SUCCESS$/);
  });
});
