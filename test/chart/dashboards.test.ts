import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { checkSyntax } from '../../src/promql/syntax.js';
import { vectorSelectors } from '../../src/promql/vector-selectors.js';
import { STATES } from '../../src/decision/severity.js';
import { METRIC_TABLE } from '../../src/telemetry/metric-table.js';
import { readDashboards, substitute } from '../support/dashboards.js';
import { HELM_TIMEOUT_MS, at, isMapping, pick, render, startHelm } from './helm.js';
import type { Helm } from './helm.js';

jest.setTimeout(HELM_TIMEOUT_MS);

const DASHBOARDS = readDashboards();
const TARGETS = DASHBOARDS.flatMap(({ file, panels, annotations }) => [
  ...panels.flatMap(({ title, targets = [] }) =>
    targets.map((target) => [`${file}, ${title}, ${target.refId}`, target] as const),
  ),
  ...annotations.list.map(
    ({ name, expr }) => [`${file}, annotation ${name}`, { expr, legendFormat: '' }] as const,
  ),
]);
/** The values of the labels `state` and `severity`. */
const WORDS = new Set<string>(Object.entries(STATES).flat());
/** Paths of links to a dashboard, with the uid. */
const LINK = /"\/d\/([\w-]+)\?/g;
const VALUES = { job: '.*', namespace: 'shop', scaler: 'web', metric: '.*', __rate_interval: '1m' };

/** `$NAME` of Grafana that no dashboard defines. */
const BUILT_IN = new Set(['__rate_interval']);

describe.each(DASHBOARDS.map((dashboard) => [dashboard.file, dashboard] as const))('%s', (_, dashboard) => {
  const { panels, templating, annotations } = dashboard;

  it('marks the changes of replicas in all panels', () => {
    expect(annotations.list.map(({ name }) => name)).toEqual(['Changes of replicas']);
  });

  it('has a uid of its own, for links', () => {
    expect(dashboard.uid).toBe(`promscaler-${dashboard.file.replace('.json', '')}`);
    expect(dashboard).not.toHaveProperty('id');
    expect(dashboard.schemaVersion).toBe(39);
  });

  it('has panels with unique ids, each with a title and a description, that do not overlap', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    for (const { type, title, description = '', targets = [] } of panels) {
      expect(title).not.toBe('');
      if (type === 'row') continue;
      expect([title, description !== '', targets.length > 0]).toEqual([title, true, true]);
    }
  });

  it('queries the data source of its variable only, and uses every variable', () => {
    const [first, ...others] = templating.list;
    expect(first).toMatchObject({ name: 'datasource', type: 'datasource', query: 'prometheus' });
    const source = { type: 'prometheus', uid: '${datasource}' };
    const asking = [...panels.filter(({ type }) => type !== 'row'), ...annotations.list, ...others];
    expect(asking.filter((one) => !('datasource' in one))).toEqual([]);
    for (const one of [...asking, ...panels.flatMap(({ targets = [] }) => targets)])
      expect(one).toMatchObject({ datasource: source });

    const text = JSON.stringify([panels, others.map(({ definition }) => definition)]);
    const used = new Set(Array.from(text.matchAll(/\$(\w+)/g), ([, name = '']) => name));
    expect([...used].filter((name) => !BUILT_IN.has(name)).sort()).toEqual(
      others.map(({ name }) => name).sort(),
    );
  });

  it('fills its variables from series that exist', () => {
    for (const { name, definition = '' } of templating.list.slice(1)) {
      const [, selector = '', label = ''] = /^label_values\((.*), (\w+)\)$/.exec(definition) ?? [];
      expect([name, checkSyntax(substitute(selector, VALUES))]).toEqual([label, []]);
    }
  });
});

describe('the queries of the dashboards', () => {
  it('are found', () => expect(TARGETS.length).toBeGreaterThan(30));

  it.each(TARGETS)('%s: is PromQL on metrics and labels of promscaler', (_, { expr, legendFormat }) => {
    const query = substitute(expr, VALUES);

    expect(checkSyntax(query)).toEqual([]);
    const selectors = vectorSelectors(query);
    expect(selectors).not.toEqual([]);
    const known = new Map(METRIC_TABLE.map(({ name, labels }) => [name, labels]));
    for (const { metric, matchers } of selectors) {
      const labels = known.get((metric ?? '').replace(/_bucket$/, ''));
      expect([metric, labels !== undefined]).toEqual([metric, true]);
      const asked = matchers.map(({ label }) => label);
      expect(asked).toContain('job');
      expect(asked.filter((label) => ![...(labels ?? []), 'job'].includes(label))).toEqual([]);
      const states = matchers.filter(({ label }) => label === 'state' || label === 'severity');
      expect(states.flatMap(({ value }) => value.split('|')).filter((word) => !WORDS.has(word))).toEqual([]);
    }
    for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) expect(query).toContain(label);
  });
});

describe('the ConfigMap of the dashboards', () => {
  let helm: Helm;

  beforeAll(async () => {
    helm = await startHelm();
  });

  const dashboardsIn = (map: Readonly<Record<string, unknown>>): readonly (readonly [string, string])[] => {
    const data = at(map, 'data');
    if (!isMapping(data)) throw new Error('the ConfigMap has no data');
    return Object.entries(data).map(([name, text]) => [name, String(text)]);
  };
  const uidsIn = (texts: readonly (readonly [string, string])[]): readonly string[] =>
    texts.map(([, text]) => (JSON.parse(text) as { readonly uid: string }).uid);

  it('gives each dashboard a uid of its release, with which the links of the tables lead to the scaler', () => {
    const values = { grafana: { dashboards: { enabled: true } } };
    const texts = dashboardsIn(pick(render(helm, values), 'ConfigMap', '-dashboards'));
    const other = dashboardsIn(
      pick(render(helm, { ...values, fullnameOverride: 'other' }), 'ConfigMap', '-dashboards'),
    );

    const uids = uidsIn(texts);
    expect(uids).toEqual([
      expect.stringMatching(/^promscaler-fleet-[\da-f]{12}$/),
      expect.stringMatching(/^promscaler-scaler-[\da-f]{12}$/),
    ]);
    expect(new Set([...uids, ...uidsIn(other)]).size).toBe(4);
    const links = texts.flatMap(([, text]) => [...text.matchAll(LINK)].map(([, uid]) => uid));
    expect(links).toEqual([uids[1], uids[1], uids[1]]);
  });

  it('holds them otherwise unchanged, where and as the sidecar looks for them', () => {
    const dashboards = {
      enabled: true,
      namespace: 'monitoring',
      folder: 'Autoscaling',
      labels: { extra: 'x' },
    };
    const map = pick(render(helm, { grafana: { dashboards } }), 'ConfigMap', '-dashboards');

    expect(map['metadata']).toMatchObject({
      name: 'rel-promscaler-dashboards',
      namespace: 'monitoring',
      labels: { grafana_dashboard: '1', extra: 'x', 'app.kubernetes.io/instance': 'rel' },
      annotations: { grafana_folder: 'Autoscaling' },
    });
    expect(
      dashboardsIn(map).map(([name, text]) => ({
        file: name.replace('ops-rel-promscaler-', ''),
        ...(JSON.parse(text.replaceAll(/(promscaler-(fleet|scaler))-[\da-f]{12}/g, '$1')) as object),
      })),
    ).toEqual(DASHBOARDS);
  });

  it('have a link to the page of promscaler, to which its page of a scaler links back', () => {
    const pageUrl = 'https://promscaler.example.com/';
    const grafana = { url: 'https://grafana.example.com', dashboards: { enabled: true, pageUrl } };
    const objects = render(helm, { grafana });
    const texts = dashboardsIn(pick(objects, 'ConfigMap', '-dashboards'));

    const links = texts.map(
      ([, text]) => (JSON.parse(text) as { readonly links: readonly { readonly url: string }[] }).links,
    );
    expect(links.map((list) => list.map(({ url }) => url))).toEqual([
      ['', 'https://promscaler.example.com/#/'],
      ['', 'https://promscaler.example.com/#/scalers/${namespace}/${scaler}'],
    ]);
    expect(JSON.stringify(pick(objects, 'ConfigMap', '-config'))).toContain(
      `https://grafana.example.com/d/${uidsIn(texts)[1] ?? ''}`,
    );
  });

  it('is rendered only if enabled', () => {
    const names = render(helm).map((object) => at(object, 'metadata', 'name'));

    expect(names).not.toContain('rel-promscaler-dashboards');
  });
});
