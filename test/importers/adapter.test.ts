import { describe, expect, it } from '@jest/globals';
import { adapterQueries } from '../../src/importers/adapter/adapter-queries.js';
import { readAdapterText } from '../../src/importers/adapter/read-adapter.js';
import { importOne } from './importing.js';

const RESOURCES =
  '    resources: { overrides: { namespace: { resource: namespace }, pod: { resource: pod } } }';

interface Rule {
  readonly series: string;
  readonly name?: string;
  readonly query?: string;
  readonly resources?: string;
  readonly filters?: string;
}

const SUM = 'sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)';
const RATE = 'sum(rate(<<.Series>>{<<.LabelMatchers>>}[2m])) by (<<.GroupBy>>)';

function config(key: 'rules' | 'externalRules', rules: readonly Rule[]): string {
  const texts = rules.map(
    ({ series, name, query = SUM, resources = RESOURCES, filters }) => `  - seriesQuery: '${series}'
${resources}
${filters === undefined ? '' : `    seriesFilters: ${filters}`}
${name === undefined ? '' : `    name: ${name}`}
    metricsQuery: '${query}'`,
  );
  return `${key}:\n${texts.join('\n')}\n`;
}

function queriesOf(text: string) {
  const { config: read } = readAdapterText(text, 'adapter.yaml');
  if (read === null) throw new Error('no rules');
  expect(read.remarks).toEqual([]);
  return adapterQueries(read);
}

function hpaOf(metric: string): string {
  return `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: web, namespace: shop }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: web }
  maxReplicas: 9
  metrics: [${metric}]`;
}

/** Returns the query of the only metric of an HPA, or the text of the document if it has none. */
function queryOf(metric: string, adapter: string): string {
  const { spec, text } = importOne(hpaOf(metric), { queries: queriesOf(adapter) });
  const [first] = (spec as { metrics?: Readonly<Record<string, { query: string }>>[] }).metrics ?? [];
  // Comments are wrapped.
  return Object.values(first ?? {})[0]?.query ?? text.replaceAll(/\n +# (?=[\w("-])/g, ' ');
}

const pods = (name: string, selector = '{}') =>
  `{ type: Pods, pods: { metric: { name: ${name}, selector: ${selector} }, target: { averageValue: 10 } } }`;
const external = (name: string, selector = '{}') =>
  `{ type: External, external: { metric: { name: ${name}, selector: ${selector} }, target: { averageValue: 10 } } }`;
const object = (name: string, kind: string, apiVersion = 'v1') =>
  `{ type: Object, object: { describedObject: { apiVersion: ${apiVersion}, kind: ${kind}, name: api }, metric: { name: ${name} }, target: { value: 10 } } }`;

describe('the query of a Pods metric', () => {
  it.each([
    [
      'an exact series and a group',
      {
        series: 'http_requests_total{namespace!="",pod!=""}',
        name: '{ matches: "^(.*)_total$", as: "${1}_per_second" }',
        query: RATE,
      },
      'http_requests_per_second',
      'sum(rate(http_requests_total{namespace="$namespace", pod=~"$pods"}[2m])) by (pod)',
    ],
    [
      'an exact series and a fixed name',
      { series: '{__name__="nginx_connections_active"}', name: '{ as: connections }' },
      'connections',
      'sum(nginx_connections_active{namespace="$namespace", pod=~"$pods"}) by (pod)',
    ],
    [
      'a pattern that matches one name only',
      { series: '{__name__=~"^some_metric_count$"}', name: '{ matches: "", as: my_custom_metric }' },
      'my_custom_metric',
      'sum(some_metric_count{namespace="$namespace", pod=~"$pods"}) by (pod)',
    ],
    [
      'the only group without as',
      { series: '{__name__=~"^http_.*"}', name: '{ matches: "^(.*)_total$" }', query: RATE },
      'http_requests',
      'sum(rate(http_requests_total{namespace="$namespace", pod=~"$pods"}[2m])) by (pod)',
    ],
    [
      'no name',
      { series: '{__name__=~"^app_.+",pod!=""}' },
      'app_jobs',
      'sum(app_jobs{namespace="$namespace", pod=~"$pods"}) by (pod)',
    ],
    [
      'alternatives',
      { series: '{__name__=~"jobs_.*"}', name: '{ matches: "^(.*)_(?:total)$", as: "${1}_rate" }' },
      'jobs_done_rate',
      'sum(jobs_done_total{namespace="$namespace", pod=~"$pods"}) by (pod)',
    ],
    [
      'a named group',
      { series: '{__name__=~".*_total"}', name: '{ matches: "^(?P<base>.*)_total$", as: "${base}" }' },
      'x',
      'sum(x_total{namespace="$namespace", pod=~"$pods"}) by (pod)',
    ],
    [
      'a template of labels',
      { series: 'x{}', resources: '    resources: { template: "kube_<<.Resource>>" }' },
      'x',
      'label_replace(sum(x{kube_namespace="$namespace", kube_pod=~"$pods"}) by (kube_pod), "pod", "$1", "kube_pod", "(.+)")',
    ],
    [
      'plural overrides',
      {
        series: 'x{}',
        resources:
          '    resources: { overrides: { ns: { resource: namespaces }, pod: { group: "", resource: pods } } }',
      },
      'x',
      'sum(x{ns="$namespace", pod=~"$pods"}) by (pod)',
    ],
    [
      'values by name',
      {
        series: 'x{}',
        query:
          'sum(x{namespace="<<index .LabelValuesByName "namespace">>", pod=~"<<.LabelValuesByName.pod>>"}) by (<<- .GroupBy ->>)',
      },
      'x',
      'sum(x{namespace="$namespace", pod=~"$pods"}) by (pod)',
    ],
    [
      'more matchers',
      { series: 'x{}', query: 'sum(<<.Series>>{<<.LabelMatchers>>,job!=""}) by (<<.GroupBy>>)' },
      'x',
      'sum(x{namespace="$namespace", pod=~"$pods",job!=""}) by (pod)',
    ],
  ])('by %s', (_, rule: Rule, name, query) => {
    expect(queryOf(pods(name), config('rules', [rule]))).toBe(query);
  });

  it('has the selector of the metric as matchers', () => {
    const adapter = config('rules', [{ series: 'x{}' }]);

    expect(queryOf(pods('x', '{ matchLabels: { verb: GET } }'), adapter)).toBe(
      'sum(x{verb="GET", namespace="$namespace", pod=~"$pods"}) by (pod)',
    );
  });

  it.each([
    ['the filter is', '[{ is: "^jobs_" }]', 'jobs_x', true],
    ['the filter is', '[{ is: "^jobs_" }]', 'work_x', false],
    ['the filter isNot', '[{ isNot: "_total$" }]', 'jobs_x', true],
    ['the filter isNot', '[{ isNot: "_total$" }]', 'jobs_total', false],
  ])('follows %s %s for %s', (_, filters, name, isFound) => {
    const text = queryOf(pods(name), config('rules', [{ series: '{pod!=""}', filters }]));

    expect(text.includes('FILL IN')).toBe(!isFound);
  });

  it('names the rule in a comment', () => {
    const { text, lost } = importOne(hpaOf(pods('x')), {
      queries: queriesOf(config('rules', [{ series: 'x{}' }])),
    });

    expect(lost).toEqual([]);
    expect(text).toContain(
      '# spec.metrics[0]: The query is from rules[0] in the config of prometheus-adapter.',
    );
  });
});

describe('the query of an Object metric', () => {
  const resources = '    resources: { template: "<<.Resource>>" }';
  const rule = { series: 'requests{}', resources };

  it.each([
    ['Ingress', 'sum(requests{namespace="$namespace", ingress="$object"}) by (ingress)'],
    ['Service', 'sum(requests{namespace="$namespace", service="$object"}) by (service)'],
    ['Namespace', 'sum(requests{namespace="$object"}) by (namespace)'],
  ])('of a %s selects that object', (kind, query) => {
    expect(queryOf(object('requests', kind), config('rules', [rule]))).toBe(query);
  });

  // pkg/naming/resource_converter.go: dots and dashes of the group become underscores.
  it.each([
    ['networking.k8s.io/v1', 'kube_networking_k8s_io_ingress'],
    ['v1', 'kube__ingress'],
  ])('of %s has the group in its label', (apiVersion, label) => {
    const adapter = config('rules', [
      {
        series: 'requests{}',
        resources:
          '    resources: { template: "kube_<<.Group>>_<<.Resource>>", overrides: { ns: { resource: namespace } } }',
      },
    ]);

    expect(queryOf(object('requests', 'Ingress', apiVersion), adapter)).toBe(
      `sum(requests{ns="$namespace", ${label}="$object"}) by (${label})`,
    );
  });

  it('is not known if the rule has no label for the object', () => {
    expect(queryOf(object('requests', 'Ingress'), config('rules', [{ series: 'requests{}' }]))).toContain(
      'rules[0] of --adapter-config cannot be converted',
    );
  });
});

describe('an Object metric with the target value', () => {
  const adapter = config('rules', [
    {
      series: 'requests_total',
      resources:
        '    resources: { overrides: { namespace: { resource: namespace }, service: { resource: service } } }',
      query: RATE,
    },
  ]);
  const hpa = (target: string): string =>
    hpaOf(
      `{ type: Object, object: { describedObject: { apiVersion: v1, kind: Service, name: api }, metric: { name: requests_total }, target: ${target} } }`,
    );
  const NOTE =
    /spec\.metrics\[0\]: The target is taken from the manifest, but the query returns a total, .* at three times the target, 1 replica becomes 3, then 9, and so on up to maxReplicas \(9\)\. Write target: \{ averageValue: 10 \}/;

  it('that reads the total of a Service stays as it is, with a note that it multiplies the replicas', () => {
    const { text, spec, lost } = importOne(hpa('{ type: Value, value: 10 }'), {
      queries: queriesOf(adapter),
    });

    expect(text.replaceAll(/\n +# (?=\w|\()/g, ' ')).toMatch(NOTE);
    expect(spec).toMatchObject({ metrics: [{ object: { target: { value: 10 } } }] });
    expect(lost).toEqual([]);
  });

  it('has no such note for an averageValue, which divides the total', () => {
    const { text } = importOne(hpa('{ type: AverageValue, averageValue: 10 }'), {
      queries: queriesOf(adapter),
    });

    expect(text).not.toContain('The target is that');
  });
});

describe('the query of an External metric', () => {
  it.each([
    ['in its namespace', RESOURCES, 'sum(depth{queue="mail", namespace="$namespace"})'],
    ['in all namespaces', '    resources: { namespaced: false }', 'sum(depth{queue="mail"})'],
  ])('%s', (_, resources, query) => {
    const adapter = config('externalRules', [{ series: 'depth{}', resources }]);

    expect(queryOf(external('depth', '{ matchLabels: { queue: mail } }'), adapter)).toBe(query);
  });

  it('without a label of the namespace selects all namespaces, with a note', () => {
    const adapter = config('externalRules', [{ series: 'depth{}', resources: '    resources: {}' }]);
    const { text } = importOne(hpaOf(external('depth')), { queries: queriesOf(adapter) });

    expect(queryOf(external('depth'), adapter)).toBe('sum(depth)');
    expect(text.replaceAll(/\n +# /g, ' ')).toContain(
      'externalRules[0] has no label for the namespace: prometheus-adapter rejects this rule, and the converted query selects all namespaces',
    );
  });

  it('can have the value of a label that its selector names', () => {
    const query = 'sum(<<.Series>>{queue=~"<<index .LabelValuesByName "queue">>-.*"})';
    const adapter = config('externalRules', [{ series: 'depth{}', query }]);

    expect(queryOf(external('depth', '{ matchLabels: { queue: mail } }'), adapter)).toBe(
      'sum(depth{queue=~"mail-.*"})',
    );
    expect(
      queryOf(
        external('depth', '{ matchExpressions: [{ key: queue, operator: In, values: [mail, sms] }] }'),
        adapter,
      ),
    ).toBe('sum(depth{queue=~"mail|sms-.*"})');
    expect(queryOf(external('depth'), adapter)).toContain('externalRules[0] of --adapter-config cannot be');
  });

  it('without any matcher is still PromQL', () => {
    const query = 'max(<<.Series>>{<<.LabelMatchers>>, job="a"}) + sum(<<.Series>>{<<.LabelMatchers>>})';
    const adapter = config('externalRules', [
      { series: 'depth{}', resources: '    resources: { namespaced: false }', query },
    ]);

    expect(queryOf(external('depth'), adapter)).toBe('max(depth{job="a"}) + sum(depth)');
  });

  it('does not come from rules of the custom metrics API', () => {
    expect(queryOf(external('x'), config('rules', [{ series: 'x{}' }]))).toContain(
      'no rule in externalRules of --adapter-config matches the metric, but rules[0] matches it and is for Pods and Object metrics',
    );
  });

  it('that no rule matches has the names that the rules produce', () => {
    const adapter = config('rules', [
      { series: 'http_requests_total{}', name: '{ matches: "^(.*)_total$", as: "${1}_per_second" }' },
      { series: '{__name__=~"^queue_.*"}', name: '{ as: "q_$0" }' },
      { series: '{__name__=~"^(a|b)_x$"}', name: '{ as: both }' },
    ]);

    expect(queryOf(pods('http_request_per_second'), adapter)).toContain(
      'no rule in rules of --adapter-config matches the metric; the rules produce http_requests_per_second, q_*, both; ' +
        'did you mean "http_requests_per_second"?',
    );
    expect(queryOf(external('x'), adapter)).toContain(
      'no rule in externalRules of --adapter-config matches the metric: the file has no externalRules',
    );
  });
});

describe('several rules for one metric', () => {
  it('of which one names its series: that one', () => {
    const adapter = config('rules', [
      { series: 'x_total{}', name: '{ as: x }', query: RATE },
      { series: '{pod!=""}' },
    ]);

    expect(queryOf(pods('x'), adapter)).toContain('rate(x_total{');
  });

  // pkg/custom-provider/series_registry.go: a later rule replaces what an earlier one has for the same series.
  it('of which a later one also reads that series under this name: the later one', () => {
    const adapter = config('rules', [
      { series: 'x_total{}', name: '{ matches: "^(.*)_total$" }', query: RATE },
      { series: '{pod!=""}', name: '{ matches: "^(.*)_total$" }', query: RATE.replace('2m', '9m') },
    ]);

    expect(queryOf(pods('x'), adapter)).toContain('rate(x_total{namespace="$namespace", pod=~"$pods"}[9m])');
  });

  it('of a fixed name for several series: a choice', () => {
    const adapter = config('rules', [
      { series: '{__name__=~"^nginx_(?:in|out)_requests.*",pod!=""}', name: '{ as: requests }', query: RATE },
    ]);
    const text = queryOf(pods('requests'), adapter);

    expect(text).toContain('the metric may come from several series');
    expect(text).toContain(
      '#   sum(rate(nginx_in_requests{namespace="$namespace", pod=~"$pods"}[2m])) by (pod)',
    );
    expect(text).toContain('#   sum(rate(nginx_out_requests{');
  });

  it('of which none names its series: a choice, since only Prometheus knows the series', () => {
    const adapter = config('rules', [
      { series: '{pod!="",__name__!~"^container_.*"}', filters: '[{ isNot: "_total$" }]' },
      { series: '{pod!="",__name__!~"^container_.*"}', name: '{ matches: "^(.*)_total$" }', query: RATE },
    ]);
    const text = queryOf(pods('http_requests'), adapter);

    expect(text).toContain('#   sum(http_requests{namespace="$namespace", pod=~"$pods"}) by (pod)');
    expect(text).toContain(
      '#   sum(rate(http_requests_total{namespace="$namespace", pod=~"$pods"}[2m])) by (pod)',
    );
    expect(text).toContain('query: FILL IN');
  });
});

describe('a rule without an equivalent', () => {
  it.each([
    ['a template with another action', { series: 'x{}', query: '<<if .GroupBy>>sum(x)<<end>>' }],
    [
      'no label of pods',
      { series: 'x{}', resources: '    resources: { overrides: { namespace: { resource: namespace } } }' },
    ],
    [
      'no label of the namespace',
      { series: 'x{}', resources: '    resources: { overrides: { pod: { resource: pod } } }' },
    ],
    ['a query that is not PromQL', { series: 'x{}', query: 'sum(<<.Series>>' }],
    [
      'a group that Go reads otherwise',
      { series: 'x_total{}', name: '{ matches: "^(.*)_total$", as: "$1_rate" }' },
    ],
  ])('(%s) leaves the metric to be filled in', (_, rule: Rule) => {
    const { text } = importOne(hpaOf(pods('x')), { queries: queriesOf(config('rules', [rule])) });
    expect(text).toMatch(/(?:query|paused): FILL IN/);
  });
});

describe('the config of prometheus-adapter', () => {
  const rules = config('rules', [{ series: 'x{}' }]);
  it.each([
    ['as a ConfigMap', `kind: ConfigMap\ndata:\n  config.yaml: |\n${rules.replace(/^/gm, '    ')}`],
    [
      'as values of its chart',
      `rules:\n  default: false\n  custom:\n${rules.split('\n').slice(1).join('\n').replace(/^/gm, '  ')}`,
    ],
  ])('is read %s', (_, text) => {
    expect(queryOf(pods('x'), text)).toContain('sum(x{');
  });
});
