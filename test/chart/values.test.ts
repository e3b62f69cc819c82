import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { format, resolveConfig } from 'prettier';
import { parse } from 'yaml';
import { serviceJsonSchema } from '../../src/cli/schema/json-schema.js';
import { inGroups } from './verdicts.js';
import { CHART, HELMS, HELM_TIMEOUT_MS, ROOT, at, isMapping, startHelm, template } from './helm.js';
import type { Helm, Rendered, Values } from './helm.js';

jest.setTimeout(HELM_TIMEOUT_MS);

function read(path: string): Rendered {
  const value: unknown = parse(readFileSync(path, 'utf8'));
  if (!isMapping(value)) throw new Error(`${path} is not a map`);
  return value;
}

describe('an invalid value', () => {
  let helm: Helm;
  let others: readonly Helm[];

  beforeAll(async () => {
    helm = await startHelm();
    others = await Promise.all(HELMS.slice(1).map(startHelm));
  });

  const SCALER = { apiVersion: 'promscaler.dev/v1', kind: 'Scaler', metadata: {}, spec: {} };
  const source = (fields: Values): Values => ({ config: { prometheus: { default: fields } } });
  const cases: readonly (readonly [string, Values, string])[] = [
    ['an unknown value', { replicasCount: 2 }, "additional properties 'replicasCount' not allowed"],
    ['an unknown value of a map', { image: { name: 'x' } }, "at '/image'"],
    ['a number for a tag', { image: { tag: 1.1 } }, "at '/image/tag': got number, want string"],
    ['an invalid tag', { image: { tag: 'a b' } }, "at '/image/tag'"],
    ['a string for a boolean', { dryRun: 'true' }, "at '/dryRun': got string, want boolean"],
    ['a URL with a password', { prometheus: { url: 'http://u:p@host' } }, "at '/prometheus/url'"],
    ['an invalid URL', { prometheus: { url: 'host:9090' } }, "at '/prometheus/url'"],
    ['no kinds', { targets: [] }, "at '/targets'"],
    ['pods as a kind', { targets: ['pods'] }, "at '/targets/0'"],
    ['a kind of apps with its group', { targets: ['deployments.apps'] }, "at '/targets/0'"],
    ['a wildcard', { targets: ['*.example.com'] }, "at '/targets/0'"],
    ['one namespace for a list', { namespaces: 'shop' }, "at '/namespaces': got string, want array"],
    ['an invalid namespace', { namespaces: ['Shop'] }, "at '/namespaces/0'"],
    ['a misspelt setting', { config: { promtheus: {} } }, "additional properties 'promtheus' not allowed"],
    ['a misspelt setting of a source', source({ url: 'http://p' }), "'url' not allowed"],
    ['a timeout of 0 s', source({ timeoutSeconds: 0 }), 'minimum: got 0, want 1'],
    ['a header that is a number', source({ headers: { X: 1 } }), 'got number, want string'],
    ['a header of two lines', source({ headers: { X: 'a\nb' } }), '/headers/X'],
    ['a setting of the chart', { config: { kubernetes: {} } }, "'kubernetes' not allowed"],
    ['a port', { config: { server: { port: 1 } } }, "'server' not allowed"],
    ['a number for a scaler', { scalers: { web: 3 } }, "at '/scalers/web'"],
    ['a scaler of another kind', { scalers: { web: { ...SCALER, kind: 'ScaledObject' } } }, 'Scaler'],
    ['a scaler whose name is no file name', { scalers: { 'a/b': 'x' } }, "invalid propertyName 'a/b'"],
    ['an invalid secret name', { secrets: ['../x'] }, "at '/secrets/0'"],
    ['an annotation that is a boolean', { podAnnotations: { a: true } }, "at '/podAnnotations/a'"],
    ['nothing instead of a map', { service: null }, "missing property 'service'"],
    ['a string for a count', { replicas: '2' }, "at '/replicas': got string, want integer"],
    ['less than no replicas', { replicas: -1 }, "at '/replicas': minimum: got -1, want 0"],
    ['eleven replicas', { replicas: 11 }, "at '/replicas': maximum: got 11, want 10"],
    ['a string for the other count', { replicaCount: '2' }, "at '/replicaCount'"],
    ['a volume without a name', { extraVolumes: [{ emptyDir: {} }] }, "missing property 'name'"],
    ['a mount without a path', { extraVolumeMounts: [{ name: 'x' }] }, "missing property 'mountPath'"],
    ['an argument that is a number', { extraArgs: [1] }, "at '/extraArgs/0': got number, want string"],
    ['a spread without a topology', { topologySpreadConstraints: [{ maxSkew: 1 }] }, "'topologyKey'"],
    ['a budget in words', { podDisruptionBudget: { minAvailable: 'half' } }, '/podDisruptionBudget'],
    ['a misspelt member of the budget', { podDisruptionBudget: { min: 1 } }, "'min' not allowed"],
    [
      'a list for a security context',
      { securityContext: [] },
      "at '/securityContext': got array, want object",
    ],
    ['an invalid scrape timeout', { serviceMonitor: { scrapeTimeout: 5 } }, '/serviceMonitor/scrapeTimeout'],
    [
      'a lease of 0 s',
      { leaderElection: { leaseDurationSeconds: 0 } },
      "at '/leaderElection/leaseDurationSeconds'",
    ],
    ['a misspelt member of the election', { leaderElection: { enable: false } }, "'enable' not allowed"],
    [
      'a string for the state',
      { state: { enabled: 'false' } },
      "at '/state/enabled': got string, want boolean",
    ],
    ['state in the config', { config: { state: {} } }, "'state' not allowed"],
    ['a URL with a query', { prometheus: { url: 'http://p:9090?x=1' } }, "at '/prometheus/url'"],
    ['a URL without a host', { prometheus: { url: 'http://' } }, "at '/prometheus/url'"],
    ['no credentials', { credentials: { default: {} } }, "at '/credentials/default'"],
    ['misspelt credentials', { credentials: { default: { token: 'x' } } }, "'token' not allowed"],
    ['a token of two lines', { credentials: { default: { bearerToken: 'a\nb' } } }, '/bearerToken'],
    ['an invalid certificate', { credentials: { default: { ca: 'x' } } }, '/credentials/default/ca'],
    [
      'a key that no Secret can have',
      { credentials: { default: { existingSecret: 'x', keys: { ca: 'a/b' } } } },
      '/credentials/default/keys/ca',
    ],
    ['an invalid ConfigMap name', { scalerConfigMaps: ['A'] }, "at '/scalerConfigMaps/0'"],
    ['an invalid label', { commonLabels: { a: 'b c' } }, "at '/commonLabels/a'"],
    ['a number for a label', { podLabels: { a: 1 } }, "at '/podLabels/a': got number, want string"],
    ['an invalid interval', { serviceMonitor: { interval: '30' } }, "at '/serviceMonitor/interval'"],
    ['a string for the alerts', { prometheusRule: { enabled: 'yes' } }, "at '/prometheusRule/enabled'"],
    [
      'a misspelt alert',
      { prometheusRule: { alerts: { PromscalerLat: { enabled: false } } } },
      "'PromscalerLat' not allowed",
    ],
    [
      'a threshold of an alert without one',
      { prometheusRule: { alerts: { PromscalerPaused: { threshold: 1 } } } },
      "'threshold' not allowed",
    ],
    ['an invalid time of an alert', { prometheusRule: { alerts: { PromscalerLate: { for: '5' } } } }, '/for'],
    ['a misspelt member of the alerts', { prometheusRule: { jobs: 'x' } }, "'jobs' not allowed"],
    ['no port of the API server', { networkPolicy: { apiServerPorts: [] } }, '/networkPolicy/apiServerPorts'],
    ['an endpoint without a port', { networkPolicy: { tokenEndpoints: { azure: [{}] } } }, "'port'"],
    [
      'a host where an address is needed',
      { networkPolicy: { tokenEndpoints: { azure: [{ port: 443, cidr: 'login.example.com' }] } } },
      '/networkPolicy/tokenEndpoints/azure/0/cidr',
    ],
    ['an endpoint of no way', { networkPolicy: { tokenEndpoints: { aws: [] } } }, "'aws' not allowed"],
    [
      'a client secret in the config',
      source({ oauth2: { tokenUrl: 'https://t', clientId: 'c', clientSecret: 'x' } }),
      "'clientSecret' not allowed",
    ],
    ['port 0', { networkPolicy: { apiServerPorts: [0] } }, '/networkPolicy/apiServerPorts/0'],
    [
      'a string for the definition',
      { crd: { enabled: 'true' } },
      "at '/crd/enabled': got string, want boolean",
    ],
    ['a misspelt member of the definition', { crd: { install: true } }, "'install' not allowed"],
    ['a Service type without pods', { service: { type: 'ExternalName' } }, "at '/service/type'"],
    ['port 0 of the Service', { service: { port: 0 } }, "at '/service/port': minimum: got 0, want 1"],
    ['port 65,536 of the Service', { service: { port: 65_536 } }, "at '/service/port': maximum"],
    ['a host as a string', { ingress: { hosts: ['a.example.com'] } }, "at '/ingress/hosts/0': got string"],
    [
      'a path without a slash',
      { ingress: { hosts: [{ host: 'a', paths: [{ path: 'a' }] }] } },
      '/paths/0/path',
    ],
    ['a probe every 0 s', { livenessProbe: { periodSeconds: 0 } }, "at '/livenessProbe/periodSeconds'"],
    ['a probe of another path', { readinessProbe: { httpGet: {} } }, "'httpGet' not allowed"],
    ['a number for an object', { extraObjects: [1] }, "at '/extraObjects/0'"],
    ['a registry with an account', { image: { registry: 'u@registry' } }, "at '/image/registry'"],
    ['a number for the global registry', { global: { imageRegistry: 1 } }, "at '/global/imageRegistry'"],
    ['a variable that is a number', { extraEnv: [{ name: 'A', value: 1 }] }, "at '/extraEnv/0/value'"],
  ];

  const groups = inGroups(cases);

  it.each(groups)('is rejected with a message for each: $names', ({ values, sentences }) => {
    const { code, stdout, stderr } = template(helm, values);

    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    for (const sentence of sentences) expect(stderr).toContain(sentence);
  });

  // It has other messages: `- image.tag: Invalid type`, `- (root): Additional property x is not allowed`.
  it.each(groups)('is rejected by an older helm, which reports each value: $names', ({ values }) => {
    for (const older of others) {
      const { code, stdout, stderr } = template(older, values);
      const lines = stderr.matchAll(/^- (?:\(root\): (?:Additional property )?)?(\w+)/gm);
      const reported = new Set([...lines].map(([, name = '']) => name));

      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect([...reported].sort()).toEqual(Object.keys(values).sort());
    }
  });
});

describe('values.schema.json', () => {
  const FILE = join(CHART, 'values.schema.json');
  const schema = read(FILE);

  const writeSchema = async ({ config }: Rendered): Promise<void> => {
    const properties = at(schema, 'properties');
    const text = JSON.stringify({
      ...schema,
      properties: { ...(isMapping(properties) ? properties : {}), config },
    });
    const options = await resolveConfig(FILE);
    writeFileSync(FILE, await format(text, { ...options, parser: 'json' }));
  };

  it('has every value of values.yaml, and no other', () => {
    const names = Object.keys(read(join(CHART, 'values.yaml')));
    const known = at(schema, 'properties');

    expect(Object.keys(isMapping(known) ? known : {}).sort()).toEqual(names.sort());
  });

  it('has for config the schema of the service config (WRITE_VALUES_SCHEMA=1 npx jest writes it)', async () => {
    const settled = ['kubernetes', 'scalers', 'server', 'leaderElection', 'sharding', 'state', 'record'];
    const service = Object.fromEntries(
      Object.entries(serviceJsonSchema()).filter(([name]) => name !== 'title' && name !== '$schema'),
    );
    const properties = at(service, 'properties');
    if (!isMapping(properties)) throw new Error('the service config has no fields');
    const own = Object.entries(properties).filter(([name]) => !settled.includes(name));
    // Document fields are too many to repeat, and promscaler validate checks them better.
    const defaults = { type: 'object', description: at(properties, 'defaults', 'description') };
    const description = 'The service config, except for the keys that the chart sets.';
    const config = { description, ...service, properties: { ...Object.fromEntries(own), defaults } };
    // Its secret can come from `credentials`; _checks-sign-in.tpl looks for it in both.
    const oauth2 = at(config, 'properties', 'prometheus', 'additionalProperties', 'properties', 'oauth2');
    if (!isMapping(oauth2)) throw new Error('there is no oauth2');
    Object.assign(oauth2, { required: ['tokenUrl', 'clientId'] });

    if (process.env['WRITE_VALUES_SCHEMA'] === '1') await writeSchema({ config });
    expect(at(read(FILE), 'properties', 'config')).toEqual(config);
  });

  it('describes every value with its type, and rejects others', () => {
    const faults = faultsOf(at(schema, 'properties'), '');

    // A parent chart has global values for its other charts, too.
    expect(faults.filter((fault) => !fault.startsWith('/config/'))).toEqual(['/global takes anything']);
  });
});

describe('the manual of the chart', () => {
  const readme = readFileSync(join(CHART, 'README.md'), 'utf8');
  const table = readme.slice(readme.indexOf('| value |'));
  const rows = [...table.matchAll(/^\| `([^`]+)` \| `([^`]+)` \|/gm)];

  it('has every value with its default, in the order of values.yaml', () => {
    const documented = rows.map(([, name = '', text = '']) => [name, parse(text) as unknown]);

    // The members of these are those of Kubernetes.
    expect(documented).toEqual(leaves(read(join(CHART, 'values.yaml')), ['resources']));
  });
});

describe('Chart.yaml', () => {
  it('has icon.svg as its icon', () => {
    const { icon } = read(join(CHART, 'Chart.yaml'));
    const image = readFileSync(join(CHART, 'icon.svg')).toString('base64');

    expect(icon).toBe(`data:image/svg+xml;base64,${image}`);
  });

  it('has the version of package.json as its version and appVersion', () => {
    const { version } = read(join(ROOT, 'package.json'));

    expect(read(join(CHART, 'Chart.yaml'))).toMatchObject({ version, appVersion: version });
  });
});

/** Returns all values but maps, by their path; an empty value or one named in `whole` is one value. */
function leaves(values: Rendered, whole: readonly string[], path = ''): readonly (readonly unknown[])[] {
  return Object.entries(values).flatMap(([key, value]) => {
    const name = `${path}${key}`;
    const isOne = !isMapping(value) || Object.keys(value).length === 0 || whole.includes(name);
    return isOne ? [[name, value]] : leaves(value, whole, `${name}.`);
  });
}

/** Returns the values without a description or a type, and those that accept unknown members. */
function faultsOf(properties: unknown, path: string): readonly string[] {
  return Object.entries(isMapping(properties) ? properties : {}).flatMap(([name, field]) => {
    const where = `${path}/${name}`;
    const inside = at(field, 'properties');
    const isClosed = inside === undefined || at(field, 'additionalProperties') === false;
    return [
      ...(typeof at(field, 'description') === 'string' ? [] : [`${where} has no description`]),
      ...(at(field, 'type') === undefined && at(field, 'enum') === undefined ? [`${where} has no type`] : []),
      ...(isClosed ? [] : [`${where} takes anything`]),
      ...faultsOf(inside, where),
      ...faultsOf(at(field, 'additionalProperties', 'properties'), `${where}/NAME`),
      ...faultsOf(at(field, 'items', 'properties'), `${where}/0`),
    ];
  });
}
