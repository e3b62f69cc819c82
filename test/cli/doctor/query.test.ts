import { beforeAll, describe, expect, it } from '@jest/globals';
import type { CheckName, CheckResult } from '../../../src/cli/checks/check-result.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import { type Scripted, clusterOfWeb, document, diagnosed, metric, prometheus, server } from './fixture.js';

let simulator: Simulator;
let pods: readonly string[];

beforeAll(async () => {
  ({ simulator, pods } = await clusterOfWeb());
});

async function results(
  metrics: string,
  script: readonly Scripted[],
  check: CheckName = 'query',
): Promise<readonly CheckResult[]> {
  const { url } = await prometheus(script);
  const documents = { web: document('web', metrics) };
  return (await diagnosed({ prometheus: url, kubernetes: simulator.url, documents })).of(check);
}

const series = (...labels: readonly Readonly<Record<string, string>>[]): Scripted[1] =>
  labels.map((one) => ({ labels: one, value: 1 }));

describe('a guard and a freshness', () => {
  const guarded = metric(
    'external',
    'sum(mails)',
    ' }, guard: \'count(up{job="mq"} == 1) >= 1\', freshness: { query: max(timestamp(mails)), maxAgeSeconds: 60',
  );
  const now = (): number => Date.now() / 1000;

  it('succeed if they hold', async () => {
    const found = await results(guarded, [
      [/^sum\(mails\)$/, 7],
      [/^count\(up/, 1],
      [/^max\(timestamp\(mails\)\)$/, now() - 5],
    ]);

    expect(found).toEqual([]);
  });

  it('are reported separately, each with its own query, if the metric itself has a value', async () => {
    const found = await results(guarded, [
      [/^sum\(mails\)$/, 7],
      [/^group by \(job\) \(up\{\}\)$/, series({ job: 'rabbitmq' })],
      [/^max\(timestamp\(mails\)\)$/, now() - 3600],
    ]);

    expect(found).toHaveLength(2);
    expect(found[0]?.message).toMatch(/^External metric m: the guard is not true: no series/);
    expect(found[1]?.message).toMatch(
      /^External metric m: the newest sample is 360\d s old, more than maxAgeSeconds \(60\)$/,
    );
    expect(found[1]?.fix).toBe('run the query in the Prometheus UI: max(timestamp(mails))');
    expect(found.map(({ status }) => status)).toEqual(['failed', 'failed']);
  });
});

describe('a query without series', () => {
  it('is reported with the one matcher that excludes all series, and the value that is meant', async () => {
    const [found] = await results(metric('external', 'sum(rate(http{ns="$namespace", svc="wbe"}[5m]))'), [
      [/^count\(last_over_time\(http\[5m\]\)\)$/, 9],
      [/^count\(http\{ns="shop"\}\)$/, 4],
      [/^group by \(svc\) \(http\{ns="shop"\}\)$/, series({ svc: 'web' }, { svc: 'db' })],
    ]);

    expect(found).toMatchObject({
      status: 'failed',
      message:
        'External metric m has no series: the matcher svc="wbe" removes all series; without this matcher, svc is db, web',
      fix: 'svc="web"',
    });
  });

  const NOT_SCRAPED =
    'no series belongs to this workload: check Status > Targets of Prometheus for its pods, and the labels of the series';

  it.each([
    ['pods', 'pod=~"$pods-x"', 'pod', ['api-7b8bb868b9-c6l57', 'web-7b8bb868b9-c6l57'], 'pod=~"$pods"'],
    ['pods', 'pod=~"$pods-x"', 'pod', ['api-7b8bb868b9-c6l57'], NOT_SCRAPED],
    ['pods', 'pod="$pods"', 'pod', ['web-7b8bb868b9-c6l57'], 'write pod=~"$pods"'],
    ['pods', 'namespace="shpo"', 'namespace', ['shop', 'stop'], 'namespace="$namespace"'],
    ['pods', 'namespace="$namespace"', 'namespace', ['shop2'], NOT_SCRAPED],
    ['external', 'namespace="$namespace"', 'namespace', ['shop2'], NOT_SCRAPED],
    ['external', 'namespace="kafak"', 'namespace', ['kafka', 'shop'], 'namespace="kafka"'],
    ['external', 'deployment="$name"', 'deployment', ['web2'], NOT_SCRAPED],
    ['external', 'deployment="wb"', 'deployment', ['wbx', 'web'], 'deployment="web"'],
    ['external', 'queue="mail"', 'queue', ['orders'], 'use the value of queue that belongs to this workload'],
    ['external', 'pod=~"$pods"', 'pod', ['api-7b8bb868b9-c6l57'], NOT_SCRAPED],
    ['external', 'queue!="orders"', 'queue', ['orders'], 'remove the matcher queue!="orders"'],
  ] as const)(
    'of a %s metric with the matcher %s gets no fix with a value of another workload',
    async (type, matcher, label, values, fix) => {
      const [found] = await results(metric(type, `sum by (pod) (http{${matcher}})`), [
        [/^count\(last_over_time\(http\[5m\]\)\)$/, 9],
        [/^count\(http\{\}\)$/, 4],
        [/^group by \(\w+\) \(http\{\}\)$/, series(...values.map((value) => ({ [label]: value })))],
      ]);

      expect(found?.fix).toBe(fix);
    },
  );

  it('is reported with the label that the series have instead, such as namespace for kubernetes_namespace', async () => {
    const [found] = await results(metric('external', 'sum(http{kubernetes_namespace="$namespace"})'), [
      [/^count\(last_over_time\(http\[5m\]\)\)$/, 9],
      [/^count\(http\{\}\)$/, 4],
      [/^topk\(20, http\{\}\)$/, series({ __name__: 'http', namespace: 'shop', pod: 'x' })],
    ]);

    expect(found?.message).toContain(
      'they have no label kubernetes_namespace; their labels are namespace, pod',
    );
    expect(found?.fix).toBe('namespace="$namespace"');
  });

  it('is reported with the missing metric, and the one with a similar name', async () => {
    const [found] = await results(metric('external', 'sum(http_request_total)'), [
      [/^group by \(__name__\)/, series({ __name__: 'http_requests_total' }, { __name__: 'http_x' })],
    ]);

    expect(found?.message).toBe(
      'External metric m has no series: Prometheus has no metric http_request_total',
    );
    expect(found?.fix).toBe('use http_requests_total instead');
  });

  it('is reported with the missing metric, and existing ones of that kind', async () => {
    const [found] = await results(metric('external', 'sum(rabbitmq_queue_messages)'), [
      [
        /^group by \(__name__\) \(\{__name__=~"rabbitmq_queue\.\*"\}\)/,
        series({ __name__: 'rabbitmq_queue_consumers_and_more' }),
      ],
    ]);

    expect(found?.message).toContain('; similar metrics are rabbitmq_queue_consumers_and_more');
    expect(found?.fix).toContain('Status > Targets');
  });

  it('is reported differently for series that ended within the hour and series that never existed', async () => {
    const [found] = await results(metric('external', 'sum(http)'), [
      [/^count\(last_over_time\(http\[1h\]\)\)$/, 9],
    ]);

    expect(found?.message).toContain('had samples in the last hour, but has no samples now');
  });

  it('is reported with the existing labels if no single matcher is the cause', async () => {
    const [found] = await results(metric('external', 'sum(http{a="1", b="2"})'), [
      [/^count\(last_over_time\(http\[5m\]\)\)$/, 9],
      [/^topk\(20, http\)$/, series({ job: 'x', a: '9' })],
    ]);

    expect(found?.message).toMatch(
      / matches no series, even without any one of its matchers; http has no label b$/,
    );
    expect(found?.fix).toBe('use matchers for the labels of http: a, job');
  });

  it.each([
    [
      'sum(http) / on (x) sum(jobs)',
      'each selector matches series, but the operators between the selectors remove all series',
    ],
    ['http > 5', 'http matches series, but a comparison or function removes all of them'],
    ['sum(http)', 'the query had no series a moment ago, but has series again'],
    [
      'rate(http[1s])',
      'http matches series, but these series have too few samples in [1s], or a comparison removes all of them',
    ],
  ])('is reported for %s if the selectors have series', async (query, message) => {
    const [found] = await results(metric('external', query), [
      [/^count\((?:http|jobs|sum\(http\))(?: offset 1s)?\)$/, 3],
    ]);
    expect(found?.message).toBe(`External metric m has no series: ${message}`);
    expect(found?.fix).toContain(query);
  });
});

describe('a query with an invalid answer', () => {
  it.each<[string, string, Scripted[1], string, string]>([
    [
      'a Pods metric without the label pod',
      metric('pods', 'sum by (service) (http)'),
      series({ service: 'web' }),
      'a series has no label pod, which a Pods metric needs; the series have the labels service',
      'sum by (pod)',
    ],
    [
      'a Pods metric whose label has another name',
      metric('pods', 'sum by (kubernetes_pod_name) (http)'),
      series({ kubernetes_pod_name: 'web-1' }),
      'the series have the labels kubernetes_pod_name',
      'label_replace(..., "pod", "$1", "kubernetes_pod_name", "(.+)")',
    ],
    [
      'a Pods metric whose pods are addresses',
      metric('pods', 'sum by (pod) (http)'),
      series({ pod: '10.0.0.1:80' }),
      'no series belongs to a pod of the target',
      'the label pod must be the name of a pod, such as web-',
    ],
    [
      'an Object metric of 3 series',
      metric('object', 'http'),
      series({ job: 'x', code: '1' }, { job: 'x', code: '2' }, { job: 'x', code: '3' }),
      'the query returned 3 series, but an Object metric needs exactly one; the series differ in code',
      'wrap the query in sum(...)',
    ],
    [
      'a selector that no series meets',
      metric('external', 'http', ', selector: { matchLabels: { queue: mial } }'),
      series({ queue: 'mail' }),
      'none of its 1 series matches metric.selector (queue is mail)',
      'use existing values in metric.selector',
    ],
    [
      'a selector for a label that the query drops',
      metric('external', 'sum(http)', ', selector: { matchLabels: { queue: mail } }'),
      series({}),
      'none of its 1 series matches metric.selector (queue is not a label of any series)',
      'keep the label queue in the result of the query, as in by (queue)',
    ],
    ['NaN alone', metric('external', 'http'), NaN, 'the value is NaN', 'x / (y > 0)'],
    [
      'a negative value',
      metric('external', 'http'),
      -1,
      'a series has the value -1',
      'run the query in the Prometheus UI: http',
    ],
  ])('%s', async (_, text, answer, message, fix) => {
    const [found, second] = await results(text, [[/http/, answer]]);

    expect([found?.status, second]).toEqual(['failed', undefined]);
    expect(found?.message).toContain(message);
    expect(found?.fix).toContain(fix);
  });

  it.each([
    [
      '$pods that is compared as text',
      metric('pods', 'http{pod="$pods"}'),
      [],
      'Pods metric m has no series: $pods is a regular expression, which = compares as a string',
      'write pod=~"$pods"',
    ],
    [
      'a regular expression that is compared as text',
      metric('external', 'sum(http{svc="web-.*"})'),
      [
        [/^count\(last_over_time\(http\[5m\]\)\)$/, 9],
        [/^count\(http\{\}\)$/, 4],
        [/^group by \(svc\) \(http\{\}\)$/, series({ svc: 'web-1' })],
      ],
      'the matcher svc="web-.*" compares a regular expression as a string; the values of svc are web-1',
      'svc=~"web-.*"',
    ],
    [
      'a matcher of a UTF-8 label',
      metric('external', 'sum({"http.requests", "svc.name"="wbe"})'),
      [
        [/^count\(last_over_time\(\{"http\.requests"\}\[5m\]\)\)$/, 9],
        [/^count\(\{"http\.requests"\}\)$/, 4],
        [/^group by \("svc\.name"\) \(\{"http\.requests"\}\)$/, series({ 'svc.name': 'web' })],
      ],
      'the matcher "svc.name"="wbe" removes all series; without this matcher, svc.name is web',
      '"svc.name"="web"',
    ],
    [
      'an attribute of OpenTelemetry that only target_info has',
      metric('external', 'sum(http{k8s_pod_name=~"web-.*"})'),
      [
        [/^count\(last_over_time\(http\[5m\]\)\)$/, 9],
        [/^count\(http\{\}\)$/, 4],
        [/^topk\(20, http\{\}\)$/, series({ job: 'web', instance: 'a' })],
        [/^topk\(20, target_info\)$/, series({ job: 'web', instance: 'a', k8s_pod_name: 'web-1' })],
      ],
      'the series lack k8s_pod_name, which only target_info has',
      'otlp.promote_resource_attributes: [k8s.pod.name] in the config of Prometheus',
    ],
    [
      'two attributes of OpenTelemetry that only target_info has',
      metric('external', 'sum(http{k8s_pod_name=~"web-.*", k8s_namespace_name="$namespace"})'),
      [
        [/^count\(last_over_time\(http\[5m\]\)\)$/, 9],
        [/^topk\(20, http\)$/, series({ job: 'web', instance: 'a' })],
        [
          /^topk\(20, target_info\)$/,
          series({ job: 'web', k8s_pod_name: 'web-1', k8s_namespace_name: 'shop' }),
        ],
      ],
      'the series lack k8s_pod_name, k8s_namespace_name, which only target_info has',
      'target_info{k8s_pod_name=~"web-.*", k8s_namespace_name="shop"}',
    ],
    [
      'a missing UTF-8 metric',
      metric('external', 'sum({"http.requests"})'),
      [],
      'Prometheus has no metric http.requests',
      'Status > Targets',
    ],
  ] as readonly (readonly [string, string, readonly Scripted[], string, string])[])(
    'is reported with %s',
    async (_, text, script, message, fix) => {
      const [found] = await results(text, script);

      expect(found?.message).toContain(message);
      expect(found?.fix).toContain(fix);
    },
  );

  it('is reported with the labels in which two series of one pod differ', async () => {
    const [pod = ''] = pods;
    const script: readonly Scripted[] = [[/^http$/, series({ pod, path: '/' }, { pod, path: '/a' })]];

    const [found] = await results(metric('pods', 'http'), script);

    expect(found?.message).toContain(`2 series for pod "${pod}"`);
    expect(found?.fix).toContain('wrap the query in sum by (pod) (...)');
    expect(found?.fix).toContain('the series differ in path');
  });

  it('is reported with a fix that names none of two replicas of Prometheus, as either may be down', async () => {
    const [pod = ''] = pods;
    const pair = series({ pod, prometheus_replica: 'a' }, { pod, prometheus_replica: 'b' });

    const [ofPods] = await results(metric('pods', 'http'), [[/^http$/, pair]]);
    const [ofObject] = await results(metric('object', 'http'), [[/http/, pair]]);

    const once =
      'count each series only once: wrap rate(...), or the selector of a gauge, in max without (prometheus_replica) (...), inside the sum';
    expect(ofPods?.fix).toContain(once);
    expect(ofPods?.fix).toMatch(/ inside the sum by \(pod\); the series differ in prometheus_replica$/);
    expect(ofObject?.fix).toContain(once);
    expect([ofPods?.fix, ofObject?.fix].join(' ')).not.toContain('matcher');
  });

  it('is reported with clamp_min for a lag of -1', async () => {
    const [found] = await results(metric('external', 'lag'), [[/^lag$/, -1]]);

    expect(found?.fix).toContain('clamp_min(..., 0)');
  });

  it('is a warning for 2,001 series of one total, and none for 2,000', async () => {
    const many = (count: number): Scripted[1] =>
      series(...Array.from({ length: count }, (_, index) => ({ id: String(index) })));

    const [found] = await results(metric('external', 'http'), [[/^http$/, many(2001)]]);
    const none = await results(metric('external', 'http'), [[/^http$/, many(2000)]]);

    expect(found).toMatchObject({ status: 'warning' });
    expect(found?.fix).toContain('wrap the query in sum(...)');
    expect(none).toEqual([]);
  });

  it('is a failure with 20,001 series, which exceed the limit of an answer', async () => {
    const many = Array.from({ length: 20_001 }, (_, index) => ({ id: String(index) }));

    const [found] = await results(metric('external', 'http'), [[/^http$/, series(...many)]]);

    expect(found?.message).toContain('the answer has 20001 series, more than maxSeries (20000)');
    expect(found?.fix).toContain('aggregate the series in the query');
  });

  it('is a warning for ready pods without a series', async () => {
    const [first = ''] = pods;

    const [found] = await results(metric('pods', 'sum by (pod) (http)'), [[/^sum/, series({ pod: first })]]);

    expect(found).toMatchObject({ status: 'warning' });
    expect(found?.message).toContain('has no series for 1 of 2 ready pods');
  });

  it('is not reported with one series of each pod', async () => {
    const all = series(...pods.map((pod) => ({ pod })));

    expect(await results(metric('pods', 'sum by (pod) (http)'), [[/^sum/, all]])).toEqual([]);
  });

  it('is a failure with the message of the server if that rejects the query', async () => {
    const { url } = await server((response, request) => {
      const query = request.form.get('query') ?? '';
      const isBad = query.includes('http');
      response.statusCode = isBad ? 400 : 200;
      response.end(
        isBad
          ? '{"status":"error","errorType":"bad_data","error":"unknown function with name \\"foo\\""}'
          : `{"status":"success","data":{"resultType":"scalar","result":[${Date.now() / 1000},"${Date.now() / 1000}"]}}`,
      );
    });
    const documents = { web: document('web', metric('external', 'foo(http)')) };

    const { of } = await diagnosed({ prometheus: url, kubernetes: simulator.url, documents });

    expect(of('query')[0]?.message).toContain('unknown function with name "foo"');
  });
});
