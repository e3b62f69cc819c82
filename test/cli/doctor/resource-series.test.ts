import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Finding } from '../../../src/cli/doctor/finding.js';
import { resourceQueryFor } from '../../../src/cli/doctor/checks/resource-labels.js';
import { checkSyntax } from '../../../src/promql/syntax.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import type { CheckName } from '../../../src/cli/doctor/check-names.js';
import { type Scripted, clusterOfWeb, document, examined, healthy, prometheus } from './rig.js';

let simulator: Simulator;
let pods: readonly string[];

beforeAll(async () => {
  ({ simulator, pods } = await clusterOfWeb());
});

async function findings(
  check: CheckName,
  script: readonly Scripted[],
  source = '',
): Promise<readonly Finding[]> {
  const { url } = await prometheus(script);
  const documents = { web: document('web') };
  const { of } = await examined({ prometheus: url, source, kubernetes: simulator.url, documents });
  return of(check);
}

const one = (
  labels: Readonly<Record<string, string>>,
): readonly [{ labels: typeof labels; value: number }] => [{ labels, value: 1 }];
const RAW = /^topk\(20, container_cpu_usage_seconds_total\)$/;
const IN_CONTAINERS = /^count\(container_cpu_usage_seconds_total\{container!="", container!="POD"\}\)$/;

describe('resource-series', () => {
  it('is content with a series of each container', async () => {
    expect(await findings('resource-series', healthy(pods))).toEqual([]);
  });

  it('fails without any cAdvisor series, and names the page to scrape', async () => {
    const [found] = await findings('resource-series', []);

    expect(found).toMatchObject({
      status: 'failed',
      message: 'there is no series container_cpu_usage_seconds_total at all',
    });
    expect(found?.mend).toContain('/metrics/cadvisor');
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
  ])('fails for %s, and gives the whole query that fits', async (_, labels, part) => {
    const [found] = await findings('resource-series', [[RAW, one(labels)]]);

    expect(found?.message).toContain('has other labels than prometheus.default.resourceQueries.cpu asks for');
    expect(found?.mend).toMatch(/^prometheus\.default\.resourceQueries\.cpu: '.*'$/);
    expect(found?.mend).toContain(part);
  });

  it('writes queries that parse and give namespace, pod and container', () => {
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

  it('fails where no label names a pod, with the labels that are there', async () => {
    const [found] = await findings('resource-series', [[RAW, one({ instance: 'n', id: '/x' })]]);

    expect(found?.message).toContain('has no label that names namespace and pod; it has id, instance');
  });

  it('fails where there are series of other namespaces alone, and names them', async () => {
    const [found] = await findings('resource-series', [
      [RAW, one({ namespace: 'back', pod: 'x', container: 'app' })],
      [IN_CONTAINERS, 1],
      [/^group by \(namespace\)/, one({ namespace: 'back' })],
    ]);

    expect(found?.message).toBe(
      'there is no series container_cpu_usage_seconds_total of namespace shop; there are some of back',
    );
  });

  it('fails where the series are there and the rate is not, for want of scrapes', async () => {
    const [found] = await findings('resource-series', [
      [RAW, one({ namespace: 'shop', pod: 'x', container: 'app' })],
      [IN_CONTAINERS, 1],
      [/^count\(container_cpu_usage_seconds_total\{namespace/, 1],
    ]);

    expect(found?.message).toContain('a rate over 120 s gives nothing: fewer than two scrapes are in it');
  });

  it('fails where two jobs scrape the same kubelets: every usage would count twice', async () => {
    const [found] = await findings('resource-series', [
      [/^max\(count by \(namespace, pod, container\) \(container_/, 2],
      [/^max\(count by .*group by \(namespace, pod, container, job\)/, 2],
      [/^group by \(job\)/, [...one({ job: 'kubelet' }), ...one({ job: 'cadvisor' })]],
      ...healthy(pods),
    ]);

    expect(found?.message).toBe(
      "each container's cpu is there 2 times, by job cadvisor, kubelet: its usage is counted 2 times",
    );
    expect(found?.mend).toContain('add job="cadvisor" to its matchers');
  });

  it('takes two series of a restarted container for what they are', async () => {
    const found = await findings('resource-series', [
      [/^max\(count by \(namespace, pod, container\) \(container_/, 2],
      [/^max\(count by .*group by/, 1],
      ...healthy(pods),
    ]);

    expect(found).toEqual([]);
  });

  it('fails where a query of the config drops the label pod', async () => {
    const [found] = await findings(
      'resource-series',
      [[/^sum by \(namespace\)/, one({ namespace: 'shop' })]],
      `, resourceQueries: { cpu: 'sum by (namespace) (rate(cpu{namespace=~"$namespaces"}[$window]))' }`,
    );

    expect(found).toMatchObject({
      message: 'prometheus.default.resourceQueries.cpu gives series without the label pod',
    });
  });
});

describe('scrape-interval', () => {
  const scrapes = (inWindow: number, inLong: number): readonly Scripted[] => [
    [/^max\(count_over_time\(container_cpu.*\[120s\]\)\)$/, inWindow],
    [/^max\(count_over_time\(container_cpu.*\[900s\]\)\)$/, inLong],
    ...healthy(pods),
  ];

  it('is content with 4 scrapes in the window', async () => {
    expect(await findings('scrape-interval', scrapes(4, 30))).toEqual([]);
  });

  it('warns of 2 scrapes, with settings for the interval of 60 s', async () => {
    const [found] = await findings('scrape-interval', scrapes(2, 15));

    expect(found).toMatchObject({
      status: 'warning',
      message:
        'the containers are scraped about every 60 s, so the window of 120 s holds 2 samples; 4 are wanted, so that one that fails leaves no hole',
    });
    expect(found?.mend).toContain(
      'prometheus.default: { scrapeIntervalSeconds: 60, resourceWindowSeconds: 240 }',
    );
  });

  it('fails with 1 scrape in the window', async () => {
    const [found] = await findings('scrape-interval', scrapes(1, 7));

    expect(found?.status).toBe('failed');
    expect(found?.message).toContain(
      'about every 120 s, so the window of 120 s holds 1 sample, and a rate needs 2',
    );
    expect(found?.mend).toContain('scrapeIntervalSeconds: 120, resourceWindowSeconds: 480');
  });
});
