import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { readServiceConfig, serviceFacts } from '../../src/config/read-service-config.js';
import type { ServiceConfig } from '../../src/config/resolve-service-config.js';
import { readScalers } from '../../src/scaler/read/read-scalers.js';
import { CASES } from './cases.js';
import { HELM_TIMEOUT_MS, ROOT, at, isMapping, listAt, pick, render, startHelm, textAt } from './helm.js';
import type { Helm, Rendered, Values } from './helm.js';

jest.setTimeout(HELM_TIMEOUT_MS);

const EXAMPLES = join(ROOT, 'config/scalers');
const MOUNTED = '/etc/promscaler/config/promscaler.yaml';

let helm: Helm;

beforeAll(async () => {
  helm = await startHelm();
});

/** Parses the rendered service config as the service does. */
function configOf(values: Values): ServiceConfig {
  const text = textAt(pick(render(helm, values), 'ConfigMap', '-config'), 'data', 'promscaler.yaml');
  const { config, problems } = readServiceConfig(text, 'promscaler.yaml', MOUNTED);
  expect(problems).toEqual([]);
  if (config === null) throw new Error('the service config is refused without a problem');
  return config;
}

function documentsOf(objects: readonly Rendered[]): Readonly<Record<string, string>> {
  const { data } = pick(objects, 'ConfigMap', '-scalers');
  if (!isMapping(data)) throw new Error('the ConfigMap of the scalers is not a map');
  return Object.fromEntries(Object.keys(data).map((name) => [name, textAt(data, name)]));
}

describe('the service config of the chart', () => {
  it('is the built-in one without values, with the paths of the pod', () => {
    const plain = readServiceConfig('', 'promscaler.yaml', MOUNTED).config;

    expect(configOf({})).toEqual({
      ...plain,
      scalers: { paths: ['/etc/promscaler/scalers'], customResources: true },
      server: {
        host: null,
        port: 8080,
        allowedHosts: ['rel-promscaler.ops'],
        dashboard: true,
        groupLabel: null,
        grafanaUrl: null,
        auth: null,
        peerKeyFile: null,
      },
    });
  });

  it('has the label by which the dashboard groups, if it is set', () => {
    expect(configOf({ dashboard: { groupLabel: 'team' } })).toMatchObject({ server: { groupLabel: 'team' } });
  });

  it('has the Grafana dashboard to which the page of a scaler links, if it is set', () => {
    expect(configOf({ grafana: { url: 'https://grafana.example.com/' } }).server.grafanaUrl).toMatch(
      /^https:\/\/grafana\.example\.com\/d\/promscaler-scaler-[\da-f]{12}$/,
    );
  });

  it.each(Object.keys(CASES))('is accepted by the service with %s', (name) => {
    const text = textAt(pick(render(helm, CASES[name]), 'ConfigMap', '-config'), 'data', 'promscaler.yaml');
    const { problems } = readServiceConfig(text, 'promscaler.yaml', MOUNTED);

    expect(problems).toEqual([]);
  });

  it('has only the election and state settings of the values: both are on in a cluster', () => {
    const textOf = (values: Values): unknown =>
      parse(textAt(pick(render(helm, values), 'ConfigMap', '-config'), 'data', 'promscaler.yaml'));

    expect(Object.keys(textOf({}) as Rendered)).toEqual(['kubernetes', 'scalers', 'server']);
    expect(textOf({ leaderElection: { retryPeriodSeconds: 3 } })).toMatchObject({
      leaderElection: { retryPeriodSeconds: 3 },
    });
    expect(textOf({ leaderElection: { enabled: false }, state: { enabled: false } })).toMatchObject({
      leaderElection: { enabled: false },
      state: { enabled: false },
    });
  });

  it('reads the documents of other ConfigMaps, too, each in its own directory', () => {
    const objects = render(helm, { scalerConfigMaps: ['team-a'] });
    const pod = at(pick(objects, 'Deployment'), 'spec', 'template', 'spec');
    const folder = '/etc/promscaler/scaler-configmaps/team-a';

    expect(configOf({ scalerConfigMaps: ['team-a'] }).scalers.paths).toEqual([
      '/etc/promscaler/scalers',
      folder,
    ]);
    expect(listAt(pod, 'containers', 0, 'volumeMounts')).toContainEqual({
      name: 'scalers-0',
      mountPath: folder,
      readOnly: true,
    });
    expect(listAt(pod, 'volumes')).toContainEqual({
      name: 'scalers-0',
      configMap: { name: 'team-a', optional: true },
    });
  });

  it('reads the documents from their mount path, and is mounted where the service reads it', () => {
    const objects = render(helm);
    const container = at(pick(objects, 'Deployment'), 'spec', 'template', 'spec', 'containers', 0);
    const mounts = listAt(container, 'volumeMounts').map((mount) => at(mount, 'mountPath'));

    expect(configOf({}).scalers.paths).toEqual([mounts[1]]);
    expect(listAt(container, 'args')).toContain(`${String(mounts[0])}/promscaler.yaml`);
    expect(configOf({}).server.port).toBe(at(container, 'ports', 0, 'containerPort'));
  });

  it('uses prometheus.url for the data source default, next to the settings in config for this and others', () => {
    const prometheus = { url: 'http://p:9090' };
    const config = {
      prometheus: { default: { timeoutSeconds: 4 }, other: { urls: ['http://o:9090'], flavor: 'thanos' } },
    };

    expect(configOf({ prometheus }).prometheus).toMatchObject({ default: { urls: ['http://p:9090'] } });
    expect(configOf({ prometheus, config }).prometheus).toMatchObject({
      default: { urls: ['http://p:9090'], timeoutSeconds: 4 },
      other: { urls: ['http://o:9090'], flavor: 'thanos', timeoutSeconds: 10 },
    });
  });

  it('contains the configured namespaces', () => {
    expect(configOf({ namespaces: ['shop', 'on', '012'] }).kubernetes.namespaces).toEqual([
      'shop',
      'on',
      '012',
    ]);
    expect(configOf({}).kubernetes.namespaces).toEqual([]);
  });

  it('keeps strings that YAML 1.1 reads as another type, and numbers of a million and more', () => {
    const odd = ['on', 'no', 'y', '012', '1e3', '0x1F', '12:30:00', '1_000', '~', 'null', '=', '<<', ''];
    const headers = Object.fromEntries(odd.map((text, index) => [`X-${index}`, text]));
    const config = {
      prometheus: { default: { headers } },
      defaults: { maxReplicas: 2_147_483_647, cooldownSeconds: 300 },
      recoveryHoldMaxSeconds: 86_400,
    };
    const read = configOf({ config: { ...config, defaults: { maxReplicas: 2_147_483_647 } } });

    expect(read.prometheus['default']?.headers).toEqual(headers);
    expect(read.defaults).toEqual({ maxReplicas: 2_147_483_647 });
    expect(read.recoveryHoldMaxSeconds).toBe(86_400);
  });

  it('can name files of the mounted secrets', () => {
    const bearerTokenFile = '/etc/promscaler/secrets/token/token';
    const values = { secrets: ['token'], config: { prometheus: { default: { bearerTokenFile } } } };

    expect(configOf(values).prometheus['default']?.bearerTokenFile).toBe(bearerTokenFile);
  });

  it('accepts every example of the manual', () => {
    const readme = readFileSync(join(ROOT, 'charts/promscaler/README.md'), 'utf8');
    const examples = Array.from(readme.matchAll(/```yaml\n([\s\S]*?)```/g), ([, text = '']) => text);
    const example = examples.find((text) => text.includes('flavor: thanos')) ?? '';
    const values: unknown = parseAllDocuments(example).map((document) => document.toJS() as unknown)[0];
    if (!isMapping(values)) throw new Error('the manual shows no values');

    expect(configOf(values).prometheus['default']).toMatchObject({ flavor: 'thanos' });
  });
});

describe('the scalers of the chart', () => {
  const files = readdirSync(EXAMPLES).filter((name) => name.endsWith('.yaml'));

  it.each(files)('are the same from --set-file and from values as from the file: %s', (file) => {
    const path = join(EXAMPLES, file);
    const text = readFileSync(path, 'utf8');
    const written = parseAllDocuments(text).map((document) => document.toJS() as unknown);
    const wanted = readScalers(text, file);
    expect(wanted.scalers).toHaveLength(written.length);

    const asText = documentsOf(render(helm, {}, ['--set-file', `scalers.example=${path}`]));
    expect(asText).toEqual({ 'example.yaml': text });

    const scalers = Object.fromEntries(written.map((document, index) => [`example-${index}`, document]));
    const texts = Object.values(documentsOf(render(helm, { scalers })));
    expect(texts.flatMap((one) => readScalers(one, file).scalers)).toEqual(wanted.scalers);
  });

  it('are not templates: {{ and $ are unchanged', () => {
    const text = '# {{ .Values }} {{ fail "x" }} $namespace\n\n   - "tab:\t"\n';

    expect(documentsOf(render(helm, { scalers: { a: text } }))).toEqual({ 'a.yaml': text });
  });

  it('are valid together with the service config', () => {
    const text = readFileSync(join(EXAMPLES, 'minimal.yaml'), 'utf8');
    const values = { namespaces: ['shop'], scalers: { checkout: text } };

    const service = serviceFacts(configOf(values));
    const [document = ''] = Object.values(documentsOf(render(helm, values)));
    expect(readScalers(document, 'checkout.yaml', { service }).problems).toEqual([]);
    const elsewhere = serviceFacts(configOf({ namespaces: ['pay'] }));
    expect(readScalers(document, 'checkout.yaml', { service: elsewhere }).problems).toMatchObject([
      { code: 'namespace-not-watched' },
    ]);
  });

  it('omit one that is null', () => {
    const text = readFileSync(join(EXAMPLES, 'minimal.yaml'), 'utf8');

    expect(documentsOf(render(helm, { scalers: { a: text, b: null } }))).toEqual({ 'a.yaml': text });
  });

  it('are an empty directory by default', () => {
    expect(documentsOf(render(helm))).toEqual({});
  });
});
