import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { MANAGED } from './cases.js';
import { HELM_TIMEOUT_MS, at, listAt, pick, render, startHelm, textAt } from './helm.js';
import type { Helm, Values } from './helm.js';

jest.setTimeout(HELM_TIMEOUT_MS);

let helm: Helm;

beforeAll(async () => {
  helm = await startHelm();
});

/** Returns each rule as `PORT/PROTOCOL ... -> NAMESPACE ...`, with a star for all of them. */
function rulesOf(values: Values): readonly string[] {
  return listAt(pick(render(helm, values), 'NetworkPolicy'), 'spec', 'egress').map((rule) => {
    const ports = at(rule, 'ports') === undefined ? ['*'] : listAt(rule, 'ports').map(portText);
    const peers = at(rule, 'to') === undefined ? ['*'] : listAt(rule, 'to').map(peerText);
    return `${ports.join(' ')} -> ${peers.join(' ')}`;
  });
}

function portText(port: unknown): string {
  return `${String(at(port, 'port'))}/${String(at(port, 'protocol'))}`;
}

function peerText(peer: unknown): string {
  const namespace = at(peer, 'namespaceSelector', 'matchLabels', 'kubernetes.io/metadata.name');
  if (typeof namespace === 'string') return namespace;
  return textAt(peer, 'ipBlock', 'cidr');
}

const DNS = '53/UDP 53/TCP 5353/UDP 5353/TCP -> *';
const API_SERVER = '443/TCP 6443/TCP 8443/TCP 16443/TCP -> *';

describe('the NetworkPolicy', () => {
  it('selects the pods of the service and of helm test, in both directions', () => {
    const objects = render(helm);
    const spec = pick(objects, 'NetworkPolicy')['spec'];

    expect(at(spec, 'policyTypes')).toEqual(['Ingress', 'Egress']);
    expect(at(spec, 'podSelector')).toEqual({
      matchLabels: { 'app.kubernetes.io/instance': 'rel' },
      matchExpressions: [
        { key: 'app.kubernetes.io/name', operator: 'In', values: ['promscaler', 'promscaler-test'] },
      ],
    });
    const names = [
      at(pick(objects, 'Deployment'), 'spec', 'template', 'metadata', 'labels', 'app.kubernetes.io/name'),
      at(pick(objects, 'Pod'), 'metadata', 'labels', 'app.kubernetes.io/name'),
    ];
    expect(names).toEqual(['promscaler', 'promscaler-test']);
  });

  it('allows egress to DNS, the API server, and the built-in address if no other is set', () => {
    expect(rulesOf({})).toEqual([DNS, API_SERVER, '9090/TCP -> *', '* -> ops']);
  });

  const urls = (...texts: readonly string[]): Values => ({
    config: { prometheus: { default: { urls: texts } } },
  });

  it.each<[string, Values, readonly string[]]>([
    ['a Service by name', urls('http://prometheus:9091'), ['9091/TCP -> *', '* -> ops']],
    [
      'a Service without a port',
      urls('http://prometheus-server.monitoring'),
      ['80/TCP -> *', '* -> monitoring'],
    ],
    ['a Service in full', urls('https://p.m.svc.cluster.local/x'), ['443/TCP -> *', '* -> m']],
    ['a host outside', urls('https://prometheus.example.com:8443'), ['8443/TCP -> *']],
    ['an address', urls('http://10.0.0.7:9090'), ['9090/TCP -> *']],
    ['an address of version 6', urls('http://[fd00::7]:9090'), ['9090/TCP -> *']],
    [
      'several of them',
      urls('http://a.one:9090', 'http://b.two:80', 'http://c.one:9090'),
      ['80/TCP 9090/TCP -> *', '* -> one two'],
    ],
    ['prometheus.url', { prometheus: { url: 'http://p.mon:1234' } }, ['1234/TCP -> *', '* -> mon']],
    [
      'a source next to default',
      {
        prometheus: { url: 'http://p.mon:9090' },
        config: { prometheus: { vm: { urls: ['http://v.vm:8428'] } } },
      },
      ['8428/TCP 9090/TCP -> *', '* -> mon vm'],
    ],
    [
      'receivers of notifications',
      {
        prometheus: { url: 'http://p.mon:9090' },
        config: {
          notifications: { am: { url: 'http://alertmanager.alerts:9093' }, slack: { urlFile: '/etc/x' } },
        },
      },
      ['443/TCP 9090/TCP 9093/TCP -> *', '* -> alerts mon'],
    ],
  ])('allows egress to %s', (_what, values, rules) => {
    expect(rulesOf(values)).toEqual([DNS, API_SERVER, ...rules]);
  });

  const oauth2 = (tokenUrl: string): Values => ({
    config: {
      prometheus: {
        default: {
          urls: ['https://p.example.com:9000'],
          oauth2: { tokenUrl, clientId: 'c', clientSecretFile: '/s' },
        },
      },
    },
  });
  const google = (networkPolicy: Values): Values => ({
    networkPolicy,
    config: { prometheus: { default: { urls: ['https://p.example.com:9000'], google: {} } } },
  });

  it.each<[string, Values, readonly string[]]>([
    ['oauth2, outside', oauth2('https://login.example.com/token'), ['443/TCP 9000/TCP -> *']],
    ['oauth2, a Service', oauth2('http://dex.auth:5556/token'), ['5556/TCP 9000/TCP -> *', '* -> auth']],
    [
      'google: the token server, the metadata server of the machine and of GKE',
      google({}),
      ['9000/TCP -> *', '443/TCP -> *', '988/TCP -> 169.254.169.252/32', '80/TCP -> 169.254.169.254/32'],
    ],
    [
      'the configured addresses instead',
      google({ tokenEndpoints: { google: [{ port: 3128, cidr: '10.0.0.7/32' }] } }),
      ['9000/TCP -> *', '3128/TCP -> 10.0.0.7/32'],
    ],
    ['nothing if they are removed', google({ tokenEndpoints: { google: [] } }), ['9000/TCP -> *']],
    [
      'all ways at once, each address once',
      MANAGED,
      [
        '443/TCP 8443/TCP -> *',
        '443/TCP -> *',
        '988/TCP -> 169.254.169.252/32',
        '80/TCP -> 169.254.169.254/32',
        '80/TCP -> 169.254.170.23/32',
        '80/TCP -> fd00:ec2::23/128',
      ],
    ],
  ])('allows egress to the token endpoint: %s', (_what, values, rules) => {
    expect(rulesOf(values)).toEqual([DNS, API_SERVER, ...rules]);
  });

  it('accepts other ports of the API server, and further rules', () => {
    const extraEgress = [{ to: [{ ipBlock: { cidr: '10.0.0.0/8' } }] }];

    expect(rulesOf({ networkPolicy: { apiServerPorts: [7443], extraEgress } })).toEqual([
      DNS,
      '7443/TCP -> *',
      '9090/TCP -> *',
      '* -> ops',
      '* -> 10.0.0.0/8',
    ]);
  });

  const admits = (...namespaces: readonly string[]): unknown =>
    namespaces.map((name) => ({
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } },
    }));
  const ingressOf = (values: Values): unknown =>
    at(pick(render(helm, values), 'NetworkPolicy'), 'spec', 'ingress');
  const ports = [{ port: 8080, protocol: 'TCP' }];

  it.each<[string, Values, readonly string[]]>([
    ['there is no data source', {}, ['ops']],
    ['Prometheus is in another namespace', urls('http://p.monitoring:9090'), ['monitoring', 'ops']],
    ['Prometheus is in that of the release', urls('http://p.ops.svc.cluster.local:9090'), ['ops']],
    ['Prometheus is outside of the cluster', urls('https://p.example.com', 'http://10.0.0.7:9090'), ['ops']],
    ['tokens come from another namespace', oauth2('http://dex.auth:5556/token'), ['ops']],
    [
      'there are several data sources',
      {
        config: {
          prometheus: { a: { urls: ['http://p.one'] }, b: { urls: ['http://p.two', 'http://p.one'] } },
        },
      },
      ['one', 'ops', 'two'],
    ],
  ])(
    'admits the namespaces of the release and of the data sources to port 8080 if %s',
    (_what, values, names) => {
      expect(ingressOf(values)).toEqual([{ ports, from: admits(...names) }]);
    },
  );

  it('admits further peers', () => {
    const everyPod = { namespaceSelector: {} };

    expect(ingressOf({ networkPolicy: { ingressFrom: [everyPod] } })).toEqual([
      { ports, from: [...(admits('ops') as readonly unknown[]), everyPod] },
    ]);
  });

  it('is not rendered if disabled', () => {
    const objects = render(helm, { networkPolicy: { enabled: false } });

    expect(objects.map(({ kind }) => kind)).not.toContain('NetworkPolicy');
  });
});

describe('the ServiceMonitor', () => {
  it('is rendered only if enabled', () => {
    expect(render(helm).map(({ kind }) => kind)).not.toContain('ServiceMonitor');
  });

  it('scrapes /metrics of the Service, and keeps the namespace label of the scalers', () => {
    const serviceMonitor = { enabled: true, labels: { release: 'kube-prometheus-stack' } };
    const objects = render(helm, { serviceMonitor });
    const monitor = pick(objects, 'ServiceMonitor');
    const service = pick(objects, 'Service');

    expect(at(monitor, 'metadata', 'labels', 'release')).toBe('kube-prometheus-stack');
    expect(at(monitor, 'spec', 'endpoints')).toEqual([{ port: 'http', path: '/metrics', honorLabels: true }]);
    expect(at(service, 'spec', 'ports', 0, 'name')).toBe('http');
    expect(at(service, 'metadata', 'labels')).toMatchObject(
      at(monitor, 'spec', 'selector', 'matchLabels') as Record<string, unknown>,
    );
    expect(at(monitor, 'metadata', 'namespace')).toBe(at(service, 'metadata', 'namespace'));
  });

  it('has the configured scrape settings', () => {
    const settings = {
      interval: '15s',
      scrapeTimeout: '5s',
      relabelings: [{ action: 'labeldrop', regex: 'pod' }],
      metricRelabelings: [{ action: 'drop', sourceLabels: ['__name__'], regex: 'nodejs_.*' }],
    };
    const objects = render(helm, { serviceMonitor: { enabled: true, ...settings } });

    expect(at(pick(objects, 'ServiceMonitor'), 'spec', 'endpoints')).toEqual([
      { port: 'http', path: '/metrics', honorLabels: true, ...settings },
    ]);
  });

  it('selects the Service across namespaces if it is in another namespace', () => {
    const serviceMonitor = { enabled: true, namespace: 'monitoring', annotations: { team: 'a' } };
    const monitor = pick(render(helm, { serviceMonitor }), 'ServiceMonitor');

    expect(at(monitor, 'metadata')).toMatchObject({ namespace: 'monitoring', annotations: { team: 'a' } });
    expect(at(monitor, 'spec', 'namespaceSelector')).toEqual({ matchNames: ['ops'] });
    expect(
      at(pick(render(helm, { serviceMonitor: { enabled: true } }), 'ServiceMonitor'), 'spec'),
    ).not.toHaveProperty('namespaceSelector');
  });
});
