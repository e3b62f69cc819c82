import { describe, expect, it } from '@jest/globals';
import { readScalers } from '../../src/scaler/read/read-scalers.js';

interface PublicConfiguration {
  readonly name: string;
  /** Where the metrics, targets and policies are published. The documents here are our own. */
  readonly source: string;
  readonly minReplicas?: number;
  readonly maxReplicas: number;
  readonly metrics: readonly object[];
  readonly behavior?: object;
  /** Code and a part of the message, in the order of the report. */
  readonly findings: readonly (readonly [code: string, part: string])[];
  /** `metrics` after the advice was followed; no warning is left. */
  readonly fixed: { readonly metrics: readonly object[]; readonly behavior?: object };
}

/** An External metric, as a trigger of KEDA or an external metric of an adapter becomes one. */
function external(name: string, query: string, target: object): object {
  return { external: { metric: { name }, query, target } };
}

const IN_PROGRESS =
  'sum(vllm:num_requests_running{namespace="$namespace"}) + sum(vllm:num_requests_waiting{namespace="$namespace"})';
const DOUBLE = { type: 'Percent', value: 100, periodSeconds: 60 };

const CONFIGURATIONS: readonly PublicConfiguration[] = [
  {
    name: 'vLLM on EKS: queue depth and p95 latency with KEDA',
    source: 'https://docs.aws.amazon.com/eks/latest/userguide/ml-inference-autoscaling-hpa-keda.html',
    maxReplicas: 5,
    metrics: [
      external('waiting', 'sum(vllm:num_requests_waiting)', { averageValue: 25 }),
      external(
        'p95',
        'histogram_quantile(0.95, sum by (le) (rate(vllm:e2e_request_latency_seconds_bucket[1m])))',
        { averageValue: 5 },
      ),
    ],
    findings: [
      ['queue-without-load', '125 waiting requests propose all 5 pods'],
      ['latency-target', 'Write target: { value: 5 }'],
    ],
    fixed: {
      metrics: [
        external('in-progress', IN_PROGRESS, { averageValue: 50 }),
        external(
          'p95',
          'histogram_quantile(0.95, sum by (le) (rate(vllm:e2e_request_latency_seconds_bucket[1m])))',
          { value: 5 },
        ),
      ],
    },
  },
  {
    name: 'llm-d: the HPA that replaces the saturation analyzer',
    source:
      'https://github.com/llm-d/llm-d-workload-variant-autoscaler ("HPA Autoscaling Based on vLLM Saturation Metrics", 0.9.0)',
    maxReplicas: 10,
    metrics: [
      external('cache', 'avg(vllm:kv_cache_usage_perc{model_name="ibm/granite-13b"})', {
        averageValue: '700m',
      }),
      external('waiting', 'sum(vllm:num_requests_waiting{model_name="ibm/granite-13b"})', {
        averageValue: 2,
      }),
    ],
    behavior: { scaleUp: { policies: [{ type: 'Pods', value: 1, periodSeconds: 180 }] } },
    findings: [
      ['average-as-total', 'at most 2 pods of 10. Write target: { value: 700m }'],
      ['queue-without-load', '20 waiting requests propose all 10 pods'],
      ['slow-scale-up', 'from 1 to 10 pods takes 27 min'],
    ],
    fixed: {
      metrics: [
        external('cache', 'avg(vllm:kv_cache_usage_perc{model_name="ibm/granite-13b"})', { value: '700m' }),
        external(
          'in-progress',
          'sum(vllm:num_requests_running{model_name="ibm/granite-13b"}) + sum(vllm:num_requests_waiting{model_name="ibm/granite-13b"})',
          { averageValue: 40 },
        ),
      ],
      behavior: { scaleUp: { policies: [{ type: 'Pods', value: 1, periodSeconds: 180 }, DOUBLE] } },
    },
  },
  {
    name: 'prokube: a trigger on the KV cache of vLLM',
    source: 'https://github.com/prokube/examples/pull/41 (serving/kserve-keda-autoscaling/README.md)',
    maxReplicas: 3,
    metrics: [
      external(
        'tokens',
        'sum(rate(vllm:prompt_tokens_total{model_name="m"}[2m])) + sum(rate(vllm:generation_tokens_total{model_name="m"}[2m]))',
        { averageValue: 5 },
      ),
      external('cache', 'avg(vllm:gpu_cache_usage_perc{model_name="m"})', { averageValue: '750m' }),
    ],
    findings: [['average-as-total', 'at most 2 pods of 3. Write target: { value: 750m }']],
    fixed: {
      metrics: [
        external(
          'tokens',
          'sum(rate(vllm:prompt_tokens_total{model_name="m"}[2m])) + sum(rate(vllm:generation_tokens_total{model_name="m"}[2m]))',
          { averageValue: 5 },
        ),
        external('cache', 'avg(vllm:gpu_cache_usage_perc{model_name="m"})', { value: '750m' }),
      ],
    },
  },
  {
    name: 'KServe: running requests with a target of type Value',
    source: 'https://kserve.github.io/website/docs/model-serving/generative-inference/autoscaling',
    maxReplicas: 5,
    metrics: [external('running', 'vllm:num_requests_running', { value: 2 })],
    findings: [['total-as-value', 'up to maxReplicas (5). Write target: { averageValue: 2 }']],
    fixed: { metrics: [external('running', 'vllm:num_requests_running', { averageValue: 2 })] },
  },
  {
    name: 'Triton with TensorRT-LLM: ratio of queue time to compute time',
    source:
      'https://github.com/triton-inference-server/tutorials (Deployment/Kubernetes/TensorRT-LLM_Autoscaling_and_Load_Balancing)',
    maxReplicas: 4,
    metrics: [
      {
        pods: {
          metric: { name: 'queue-compute-ratio' },
          query:
            'sum by (pod) (rate(nv_inference_queue_duration_us{pod=~"$pods"}[1m])) / clamp_min(sum by (pod) (rate(nv_inference_compute_infer_duration_us{pod=~"$pods"}[1m])), 1)',
          target: { averageValue: 1 },
        },
      },
    ],
    findings: [['latency-target', 'Add the requests in progress as the first metric']],
    fixed: {
      metrics: [
        {
          pods: {
            metric: { name: 'in-progress' },
            query:
              'sum by (pod) (rate(nv_inference_request_duration_us{namespace="$namespace", pod=~"$pods"}[1m])) / 1e6',
            target: { averageValue: 8 },
          },
        },
      ],
    },
  },
  {
    name: 'vLLM production stack: queue depth with KEDA',
    source: 'https://docs.vllm.ai/projects/production-stack/en/latest/use_cases/autoscaling-keda.html',
    maxReplicas: 3,
    metrics: [external('waiting', 'vllm:num_requests_waiting{model="llama3"}', { averageValue: 5 })],
    findings: [['queue-without-load', '15 waiting requests propose all 3 pods']],
    fixed: { metrics: [external('in-progress', IN_PROGRESS, { averageValue: 40 })] },
  },
  {
    name: 'Dynamo: p95 of the time to the first token with KEDA',
    source: 'https://docs.nvidia.com/dynamo/latest/kubernetes/autoscaling.html',
    maxReplicas: 10,
    metrics: [
      external(
        'ttft-p95',
        'histogram_quantile(0.95, sum by (le) (rate(dynamo_frontend_time_to_first_token_seconds_bucket{dynamo_namespace="default-sglang-agg"}[5m])))',
        { averageValue: '500m' },
      ),
    ],
    findings: [['latency-target', 'no matter how many pods are running. Write target: { value: 500m }']],
    fixed: {
      metrics: [
        external(
          'in-progress',
          'sum(dynamo_frontend_inflight_requests{dynamo_namespace="default-sglang-agg"})',
          {
            averageValue: 20,
          },
        ),
        external(
          'ttft-p95',
          'histogram_quantile(0.95, sum by (le) (rate(dynamo_frontend_time_to_first_token_seconds_bucket{dynamo_namespace="default-sglang-agg"}[1m])))',
          { value: '500m' },
        ),
      ],
    },
  },
  {
    name: 'a course on autoscaling inference: the rate of a queue depth with KEDA',
    source:
      'https://theneuralbase.com/kubernetes-for-ml/learn/intermediate/autoscaling-for-variable-traffic/',
    minReplicas: 2,
    maxReplicas: 10,
    metrics: [
      external('depth', 'sum(rate(inference_queue_depth[1m]))', { averageValue: 5 }),
      { resource: { name: 'cpu', target: { averageUtilization: 70 } } },
    ],
    findings: [['rate-of-gauge', 'Write avg_over_time(inference_queue_depth{...}[1m])']],
    fixed: {
      metrics: [
        external('depth', 'sum(avg_over_time(inference_queue_depth[1m]))', { averageValue: 5 }),
        { resource: { name: 'cpu', target: { averageUtilization: 70 } } },
      ],
    },
  },
];

function problemsOf({
  minReplicas = 1,
  maxReplicas,
  metrics,
  behavior,
}: Pick<PublicConfiguration, 'minReplicas' | 'maxReplicas' | 'metrics' | 'behavior'>): readonly {
  readonly code: string;
  readonly message: string;
}[] {
  const document = {
    apiVersion: 'promscaler.dev/v1',
    kind: 'Scaler',
    metadata: { name: 'llm', namespace: 'serving' },
    spec: { scaleTargetRef: { name: 'llm' }, minReplicas, maxReplicas, metrics, behavior },
  };
  return readScalers(JSON.stringify(document), 'llm.json').problems;
}

describe('validate on a broken public configuration', () => {
  it.each(CONFIGURATIONS)('names the problem and the fix: $name', ({ findings, fixed, ...configuration }) => {
    const problems = problemsOf(configuration);

    expect(problems.map(({ code }) => code)).toEqual(findings.map(([code]) => code));
    findings.forEach(([, part], index) => expect(problems[index]?.message).toContain(part));
    expect(problemsOf({ ...configuration, ...fixed })).toEqual([]);
  });

  it('knows eight of them, each with its address', () => {
    expect(CONFIGURATIONS.map(({ source }) => source)).toEqual(
      Array(8).fill(expect.stringMatching(/^https:/)),
    );
  });
});

const IDLE = 'avg(rate(node_cpu_seconds_total{mode="idle"}[5m]))';
const FAILED = 'sum(rate(http_requests_total{code=~"5.."}[5m])) / sum(rate(http_requests_total[5m]))';

describe('validate on expressions of dashboards as a target', () => {
  it.each([
    [
      'the part of the time in which nodes are busy',
      `1 - ${IDLE}`,
      { averageValue: '600m' },
      'at most 2 pods of 20',
    ],
    ['the same in percent', `100 - (${IDLE} * 100)`, { averageValue: 10 }, 'at most 10 pods of 20'],
    [
      'the same, in percent with a target of 80',
      `100 - (${IDLE} * 100)`,
      { averageValue: 80 },
      'at most 2 pods of 20',
    ],
    ['the requests that failed, of all requests', FAILED, { averageValue: '10m' }, 'gives 3 pods'],
  ])('names a ratio as averageValue: %s', (_, query, target, part) => {
    const problems = problemsOf({ maxReplicas: 20, metrics: [external('m', query, target)] });

    expect(problems.map(({ code }) => code)).toEqual(['average-as-total']);
    expect(problems[0]?.message).toContain(part);
  });

  it('names the sum of the utilization of GPUs as value, which does not fall when pods are added', () => {
    const of = (target: object): readonly string[] =>
      problemsOf({ maxReplicas: 20, metrics: [external('m', 'sum(nv_gpu_utilization)', target)] }).map(
        ({ code }) => code,
      );

    expect(of({ value: '800m' })).toContain('total-as-value');
    expect(of({ averageValue: '800m' })).not.toContain('total-as-value');
  });

  it.each([
    ['a ratio as value', `1 - ${IDLE}`, { value: '600m' }],
    ['the sum of a ratio that is a single series', 'sum(gateway_utilization)', { value: '800m' }],
    ['the rates of two metrics', 'rate(a_total[1m]) / rate(b_total[4m])', { value: 2 }],
    ['a rate minus a constant', 'sum(rate(http_requests_total[2m])) - 5', { averageValue: 10 }],
  ])('says nothing about %s', (_, query, target) => {
    expect(problemsOf({ maxReplicas: 20, metrics: [external('m', query, target)] })).toEqual([]);
  });
});
