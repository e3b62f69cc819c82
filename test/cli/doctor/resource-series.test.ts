import { beforeAll, describe, expect, it } from '@jest/globals';
import type { CheckName, CheckResult } from '../../../src/cli/checks/check-result.js';
import { resourceQueryFor } from '../../../src/cli/checks/resource-labels.js';
import { checkSyntax } from '../../../src/promql/syntax.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import { type Scripted, clusterOfWeb, document, diagnosed, healthy, prometheus } from './fixture.js';

let simulator: Simulator;
let pods: readonly string[];

beforeAll(async () => {
  ({ simulator, pods } = await clusterOfWeb());
});

async function results(
  check: CheckName,
  script: readonly Scripted[],
  source = '',
): Promise<readonly CheckResult[]> {
  const { url } = await prometheus(script);
  const documents = { web: document('web') };
  const { of } = await diagnosed({ prometheus: url, source, kubernetes: simulator.url, documents });
  return of(check);
}

const one = (
  labels: Readonly<Record<string, string>>,
): readonly [{ labels: typeof labels; value: number }] => [{ labels, value: 1 }];
const RAW = /^topk\(20, container_cpu_usage_seconds_total\)$/;
const IN_CONTAINERS = /^count\(container_cpu_usage_seconds_total\{container!="", container!="POD"\}\)$/;

/** A container with two series, with these labels and with those. */
function twice(...labels: readonly Readonly<Record<string, string>>[]): readonly Scripted[] {
  const of = { namespace: 'shop', pod: 'web-1', container: 'app' };
  return [
    [/^max by \(namespace\) \(count by .* > 1$/, [{ labels: { namespace: 'shop' }, value: labels.length }]],
    [/^topk\(1, count by \(namespace, pod, container\)/, [{ labels: of, value: labels.length }]],
    [
      /^topk\(100, container_cpu.*pod="web-1"/,
      labels.map((more) => ({ labels: { ...of, ...more }, value: 1 })),
    ],
  ];
}

describe('resource-series', () => {
  it('succeeds with one series of each container', async () => {
    expect(await results('resource-series', healthy(pods))).toEqual([]);
  });

  it('fails without any cAdvisor series, and names the page to scrape', async () => {
    const [found] = await results('resource-series', []);

    expect(found).toMatchObject({
      status: 'failed',
      message: 'the data source has no series container_cpu_usage_seconds_total',
    });
    expect(found?.fix).toContain('/metrics/cadvisor');
  });

  it.each([
    [
      'the labels of old kubelets',
      { namespace: 'shop', pod_name: 'web-1', container_name: 'app' },
      'sum by (namespace, pod_name, container_name) (rate(container_cpu_usage_seconds_total{namespace=~"$namespaces", container_name!="", container_name!="POD"}[$window]))',
    ],
    [
      'labels that were kept apart from those of the scrape',
      {
        namespace: 'monitoring',
        pod: 'exporter',
        exported_namespace: 'shop',
        exported_pod: 'w',
        exported_container: 'app',
      },
      'sum by (exported_namespace, exported_pod, exported_container)',
    ],
    ['series of whole pods alone', { namespace: 'shop', pod: 'web-1', image: '' }, 'pod!=""}[$window])'],
  ])('fails for %s, and prints the complete query that fits', async (_, labels, part) => {
    const [found] = await results('resource-series', [[RAW, one(labels)]]);

    expect(found?.message).toContain(
      ', but prometheus.default.resourceQueries.cpu expects namespace, pod, container',
    );
    expect(found?.fix).toMatch(/^prometheus\.default\.resourceQueries\.cpu: '.*'$/);
    expect(found?.fix).toContain(part);
  });

  it('prints queries that parse and return namespace, pod and container', () => {
    const query = resourceQueryFor(
      'm_total',
      { namespace: 'exported_namespace', pod: 'pod_name', container: 'container' },
      { isCounter: true },
    );

    expect(checkSyntax(query)).toEqual([]);
    expect(query).toBe(
      'label_replace(label_replace(sum by (exported_namespace, pod_name, container) (rate(m_total{exported_namespace=~"$namespaces", container!="", container!="POD"}[$window])), "namespace", "$1", "exported_namespace", "(.+)"), "pod", "$1", "pod_name", "(.+)")',
    );
  });

  const TWO = { web: document('web'), back: document('back', '  namespace: back\n') };
  const other = { exported_namespace: 'back', exported_pod: 'b-1', exported_container: 'app' };
  const shapeOf = (namespace: string): RegExp =>
    new RegExp(`^topk\\(20, container_cpu_usage_seconds_total\\{namespace="${namespace}"\\} or `);

  async function ofTwo(script: readonly Scripted[]): Promise<CheckResult | undefined> {
    const { url } = await prometheus(script);
    return (await diagnosed({ prometheus: url, kubernetes: simulator.url, documents: TWO })).of(
      'resource-series',
    )[0];
  }

  it('decides by namespace if a Prometheus has series of several shapes', async () => {
    const found = await ofTwo([
      [shapeOf('back'), one({ ...other, namespace: 'monitoring', pod: 'exporter' })],
      [shapeOf('shop'), one({ namespace: 'shop', pod_name: 'w-1', container_name: 'app' })],
      [RAW, one({ namespace: 'else', pod: 'x', container: 'app' })],
    ]);

    expect(found?.message).toContain(
      'differ between namespaces (exported_namespace, exported_pod, exported_container; namespace, pod_name, container_name)',
    );
    expect(found?.fix).toMatch(/^prometheus\.default\.resourceQueries\.cpu: '.* or .*'$/);
    expect(checkSyntax(/'(.*)'$/.exec(found?.fix ?? '')?.[1] ?? '')).toEqual([]);
  });

  it('uses the labels of the scaled namespaces, not of others', async () => {
    const [found] = await results('resource-series', [
      [shapeOf('shop'), one({ namespace: 'shop', pod_name: 'w-1', container_name: 'app' })],
      [RAW, one({ namespace: 'back', pod: 'x', container: 'app' })],
    ]);

    expect(found?.fix).toContain('sum by (namespace, pod_name, container_name)');
  });

  it('finds the other labels of the one namespace without series', async () => {
    const found = await ofTwo([[shapeOf('back'), one(other)], ...healthy(pods)]);

    expect(found).toMatchObject({ status: 'failed' });
    expect(found?.message).toContain(
      'the labels of container_cpu_usage_seconds_total in namespace back are exported_namespace, exported_pod, exported_container, but ',
    );
    expect(found?.fix).toContain(' or label_replace(');
    expect(checkSyntax(/'(.*)'$/.exec(found?.fix ?? '')?.[1] ?? '')).toEqual([]);
  });

  it('fails if no label names a pod, with the existing labels', async () => {
    const [found] = await results('resource-series', [[RAW, one({ instance: 'n', id: '/x' })]]);

    expect(found?.message).toContain('has no labels for namespace and pod; its labels are id, instance');
  });

  it('fails if only other namespaces have series, and leaves a wrong namespace to the check of the target', async () => {
    const [found] = await results('resource-series', [
      [RAW, one({ namespace: 'back', pod: 'x', container: 'app' })],
      [IN_CONTAINERS, 1],
      [/^group by \(namespace\)/, one({ namespace: 'back' })],
    ]);

    expect(found?.message).toBe(
      'container_cpu_usage_seconds_total has no series in namespace shop, only in back',
    );
    expect(found?.fix).toBe(
      'if the check `target` fails, see its result: the namespace may be wrong; otherwise scrape the nodes of the pods with this Prometheus (matcher: namespace=~"shop")',
    );
  });

  it('fails if series exist but not their rate, for lack of scrapes', async () => {
    const [found] = await results('resource-series', [
      [RAW, one({ namespace: 'shop', pod: 'x', container: 'app' })],
      [IN_CONTAINERS, 1],
      [/^count\(container_cpu_usage_seconds_total\{namespace/, 1],
    ]);

    expect(found?.message).toContain(
      'rate over 120 s returns none: the window contains fewer than two samples',
    );
  });

  it('fails if two jobs scrape the same kubelets: every usage would count twice', async () => {
    const [found] = await results('resource-series', [
      ...twice({ job: 'kubelet', id: '/a' }, { job: 'cadvisor', id: '/a' }),
      ...healthy(pods),
    ]);

    expect(found?.status).toBe('warning');
    expect(found?.message).toBe(
      'containers have up to 2 cpu series each, which differ in job (cadvisor, kubelet): the usage is counted once, because the service takes the largest',
    );
    expect(found?.fix).toContain('add job="cadvisor" to the matchers of the query');
  });

  it('recognizes two series of a restarted container', async () => {
    const found = await results('resource-series', [
      [/^max by \(namespace\) \(count by .* > 1$/, []],
      ...healthy(pods),
    ]);

    expect(found).toEqual([]);
  });

  it.each([
    [
      'receive_replica',
      { receive_replica: 'a' },
      { receive_replica: 'b' },
      'receive_replica (a, b)',
      'in max without (receive_replica) (...), inside the sum',
    ],
    [
      'rule_replica',
      { rule_replica: '0' },
      { rule_replica: '1' },
      'rule_replica (0, 1)',
      'in max without (rule_replica) (...), inside the sum',
    ],
    [
      'prometheus, the replicas of an operator,',
      { prometheus: 'a' },
      { prometheus: 'b' },
      'prometheus (a, b)',
      'in max without (prometheus) (...), inside the sum',
    ],
    [
      'k8s_cluster',
      { k8s_cluster: 'x' },
      { k8s_cluster: 'y' },
      'k8s_cluster (x, y)',
      'add k8s_cluster="x" to',
    ],
    [
      'two kubelet services',
      { service: 'a-kubelet', instance: 'n' },
      { service: 'b-kubelet', instance: 'n' },
      'service (a-kubelet, b-kubelet)',
      'add service="a-kubelet" to the matchers of the query, or remove one of the scrape jobs',
    ],
    [
      '/metrics/resource with its path',
      { metrics_path: '/metrics/cadvisor', id: '/a', image: 'i' },
      { metrics_path: '/metrics/resource' },
      'metrics_path (/metrics/cadvisor, /metrics/resource)',
      'add metrics_path="/metrics/cadvisor" to the matchers of the query',
    ],
    [
      '/metrics/resource without its path',
      { id: '/a', image: 'i' },
      {},
      'id ("", /a)',
      'add id!="" to the matchers of the query',
    ],
    [
      'an unnamed label',
      { zone_of_scrape: 'p' },
      { zone_of_scrape: 'q' },
      'zone_of_scrape (p, q)',
      'add zone_of_scrape="p" to the matchers of the query',
    ],
    [
      'several labels',
      { job: 'a', endpoint: 'x', prometheus_replica: '0' },
      { job: 'b', endpoint: 'y', prometheus_replica: '1' },
      'prometheus_replica (0, 1) and job and endpoint',
      'in max without (prometheus_replica) (...), inside the sum',
    ],
  ])(
    'names %s as the label that distinguishes duplicate containers',
    async (_, first, second, words, fix) => {
      const query =
        'sum by (namespace, pod, container) (rate(container_cpu{namespace=~"$namespaces"}[$window]))';
      const [found] = await results(
        'resource-series',
        [...twice(first, second), ...healthy(pods)],
        `, resourceQueries: { cpu: '${query}' }`,
      );

      expect(found?.status).toBe('failed');
      expect(found?.message).toBe(
        `containers have up to 2 cpu series each, which differ in ${words}: the usage is counted up to 2 times`,
      );
      expect(found?.fix).toContain(fix);
      // Each replica may be down: no fix selects one.
      if (/replica|^prometheus/.test(words)) expect(found?.fix).not.toContain('="');
    },
  );

  it('reports that a query with the maximum counts them once', async () => {
    const query =
      'max by (namespace, pod, container) (rate(container_cpu{namespace=~"$namespaces"}[$window]))';
    const [found] = await results(
      'resource-series',
      [
        ...twice({ job: 'a' }, { job: 'b' }),
        [
          /^max by \(namespace, pod, container\) \(rate/,
          [{ labels: { namespace: 'shop', pod: 'w', container: 'app' }, value: 1 }],
        ],
        ...healthy(pods),
      ],
      `, resourceQueries: { cpu: '${query}' }`,
    );

    expect(found).toMatchObject({
      status: 'warning',
      message:
        'containers have up to 2 cpu series each, which differ in job (a, b): the usage is counted once, because the query takes the largest',
    });
  });

  it('fails if a query of the config drops the label pod', async () => {
    const [found] = await results(
      'resource-series',
      [[/^sum by \(namespace\)/, one({ namespace: 'shop' })]],
      `, resourceQueries: { cpu: 'sum by (namespace) (rate(cpu{namespace=~"$namespaces"}[$window]))' }`,
    );

    expect(found).toMatchObject({
      message: 'prometheus.default.resourceQueries.cpu returns series without the label pod',
    });
  });
});
