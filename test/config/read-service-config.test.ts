import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { readServiceConfig, serviceFacts } from '../../src/config/read-service-config.js';
import type { ServiceConfig } from '../../src/config/resolve-service-config.js';
import type { SourceConfig } from '../../src/prometheus/data-source/source-config.js';
import { formatProblem } from '../../src/scaler/problems/problem.js';

const BAD_CONFIGS = new URL('./bad/', import.meta.url);

function configOf(text: string, file = 'conf/promscaler.yaml'): ServiceConfig {
  const { config, problems } = readServiceConfig(text, file);
  expect(problems).toEqual([]);
  if (config === null) throw new Error('the config was refused');
  return config;
}

const RATED = (id: string): string =>
  `sum without (id, name, image, cpu) (rate(container_cpu_usage_seconds_total{namespace=~"$namespaces", container!="", container!="POD", ${id}}[$window]))`;
const ONCE = {
  cpu: `max by (namespace, pod, container) (${RATED('id!=""')} or ${RATED('id=""')})`,
  memory:
    'max by (namespace, pod, container) (container_memory_working_set_bytes{namespace=~"$namespaces", container!="", container!="POD"})',
};

describe('readServiceConfig', () => {
  it.each(['', '# nothing\n', '{}', 'prometheus:\nkubernetes:\nscalers:\n'])(
    'sets every value to its default for %j',
    (text) => {
      expect(configOf(text)).toEqual({
        prometheus: {
          default: {
            name: 'default',
            urls: ['http://prometheus:9090'],
            flavor: 'prometheus',
            timeoutSeconds: 10,
            maxConcurrentQueries: 10,
            maxAnswerBytes: 16_777_216,
            maxSeries: 20_000,
            scrapeIntervalSeconds: 30,
            headers: {},
            bearerTokenFile: null,
            basicAuth: null,
            signIn: null,
            tls: null,
            resourceWindowSeconds: 120,
            learnedIntervalSeconds: null,
            resourceQueries: {
              cpu: 'sum by (namespace, pod, container) (rate(container_cpu_usage_seconds_total{namespace=~"$namespaces", container!="", container!="POD"}[$window]))',
              memory:
                'sum by (namespace, pod, container) (container_memory_working_set_bytes{namespace=~"$namespaces", container!="", container!="POD"})',
            },
            ifVictoriaMetrics: {
              flavor: 'victoriametrics',
              resourceQueries: {
                cpu: 'max by (namespace, pod, container) (sum without (cpu) (rate(container_cpu_usage_seconds_total{namespace=~"$namespaces", container!="", container!="POD"}[$window]) and container_cpu_usage_seconds_total{namespace=~"$namespaces", container!="", container!="POD"}))',
                memory:
                  'sum by (namespace, pod, container) (container_memory_working_set_bytes{namespace=~"$namespaces", container!="", container!="POD"})',
              },
              onceQueries: { memory: ONCE.memory },
            },
            onceQueries: ONCE,
            namespaces: [],
          },
        },
        recoveryHoldMaxSeconds: 900,
        kubernetes: { namespaces: [], kubeconfig: null, context: null, url: null },
        scalers: { paths: ['conf/scalers'], customResources: false },
        server: {
          host: null,
          port: 8080,
          allowedHosts: [],
          dashboard: true,
          groupLabel: null,
          grafanaUrl: null,
          auth: null,
          peerKeyFile: null,
        },
        metrics: { detail: 'full' },
        state: { enabled: null },
        leaderElection: {
          enabled: null,
          leaseDurationSeconds: 15,
          renewDeadlineSeconds: 10,
          retryPeriodSeconds: 2,
        },
        sharding: { enabled: false },
        notifications: {},
        defaults: {},
        record: null,
        recommendations: null,
        log: { level: 'info', format: 'json' },
      });
    },
  );

  it('resolves relative paths against the directory of the config and keeps absolute ones', () => {
    const config = configOf(
      `prometheus:
  default:
    basicAuth: { username: reader, passwordFile: secrets/password }
    tls: { caFile: /etc/ca.crt, insecureSkipVerify: true }
kubernetes: { kubeconfig: kube/config }
scalers: { paths: [a.yaml, /srv/scalers] }
`,
      '/etc/promscaler/promscaler.yaml',
    );

    expect(config.prometheus['default']).toMatchObject({
      basicAuth: { username: 'reader', passwordFile: '/etc/promscaler/secrets/password' },
      tls: {
        caFile: '/etc/ca.crt',
        certFile: null,
        keyFile: null,
        serverName: null,
        insecureSkipVerify: true,
      },
    });
    expect(config.kubernetes.kubeconfig).toBe('/etc/promscaler/kube/config');
    expect(config.scalers.paths).toEqual(['/etc/promscaler/a.yaml', '/srv/scalers']);
  });

  it('resolves recommendations with their defaults, and to null unless they are enabled', () => {
    expect(configOf('recommendations: { days: 3 }').recommendations).toBeNull();
    expect(configOf('recommendations: { enabled: true }').recommendations).toEqual({
      days: 7,
      schedule: '0 0 * * *',
      timeZone: 'UTC',
      spreadMinutes: 360,
      cpuPercent: 20,
      events: false,
    });
  });

  it('resolves receivers of notifications with their defaults', () => {
    const text = `notifications:
  ops: { urlFile: secrets/url }
  alerts: { format: alertmanager, url: 'http://am:9093', events: [failure], namespaces: [shop], maxPerMinute: 5 }
`;
    const { config, problems } = readServiceConfig(
      text,
      'promscaler.yaml',
      '/etc/promscaler/promscaler.yaml',
    );

    expect(problems).toEqual([]);
    expect(config?.notifications).toEqual({
      ops: {
        name: 'ops',
        format: 'json',
        url: null,
        urlFile: '/etc/promscaler/secrets/url',
        bearerTokenFile: null,
        tls: null,
        events: ['rescale', 'failure'],
        namespaces: [],
        timeoutSeconds: 10,
        maxPerMinute: 30,
      },
      alerts: expect.objectContaining({
        name: 'alerts',
        format: 'alertmanager',
        url: 'http://am:9093',
        urlFile: null,
        events: ['failure'],
        namespaces: ['shop'],
        maxPerMinute: 5,
      }),
    });
  });

  it('admits at most ten receivers', () => {
    const receivers = Array.from({ length: 11 }, (_, index) => `  r${index}: { urlFile: url }\n`).join('');
    const { problems } = readServiceConfig(`notifications:\n${receivers}`, 'promscaler.yaml');

    expect(problems).toMatchObject([
      { code: 'wrong-settings', message: expect.stringContaining('at most 10') },
    ]);
  });

  it('returns sources that the Prometheus client accepts without conversion', () => {
    const source: SourceConfig | undefined = configOf('').prometheus['default'];

    expect(source?.name).toBe('default');
  });

  it.each([
    ['scrapeIntervalSeconds: 31', 124],
    ['scrapeIntervalSeconds: 15', 60],
    ['scrapeIntervalSeconds: 1', 20],
    ['scrapeIntervalSeconds: 15, resourceWindowSeconds: null', 60],
    ['timeoutSeconds: 5', 120],
  ])('has with %s a window of %d s until the interval of the series is known', (source, window) => {
    const config = configOf(`prometheus: { default: { ${source} } }`);

    expect(config.prometheus['default']).toMatchObject({
      resourceWindowSeconds: window,
      learnedIntervalSeconds: null,
    });
  });

  it('has the window that is set, which does not follow the series', () => {
    const config = configOf('prometheus: { default: { resourceWindowSeconds: 120 } }');

    expect(config.prometheus['default']?.resourceWindowSeconds).toBe(120);
    expect(config.prometheus['default']).not.toHaveProperty('learnedIntervalSeconds');
  });

  it('accepts a window of exactly four scrapes', () => {
    const text = 'prometheus: { default: { scrapeIntervalSeconds: 60, resourceWindowSeconds: 240 } }';

    expect(configOf(text).prometheus['default']?.resourceWindowSeconds).toBe(240);
  });

  it('keeps defaults as written and accepts what the scaler schema accepts', () => {
    const config = configOf(
      'defaults: { minReplicas: 2, behavior: {} }\nkubernetes: { namespaces: [shop] }\nprometheus: { a: { namespaces: [shop] } }\n',
    );

    expect(config.defaults).toEqual({ minReplicas: 2, behavior: {} });
    expect(serviceFacts(config).namespaces).toEqual(['shop']);
    expect(serviceFacts(config).sources).toMatchObject([{ name: 'a', namespaces: ['shop'] }]);
  });

  it('warns about a cpu query whose window is unknown, and uses that of resourceWindows', () => {
    const query = `resourceQueries: { cpu: 'pod:cpu:rate5m{namespace=~"$namespaces"}' }`;

    const without = readServiceConfig(`prometheus: { default: { ${query} } }`, 'promscaler.yaml');
    const stated = `prometheus: { default: { ${query}, resourceWindows: { cpu: 300 } } }`;

    expect(without.problems).toMatchObject([
      { code: 'resource-window', severity: 'warning', path: 'prometheus.default.resourceQueries.cpu' },
    ]);
    expect(without.problems[0]?.message).toContain('set prometheus.default.resourceWindows.cpu');
    expect(readServiceConfig(stated, 'promscaler.yaml').problems).toEqual([]);
    expect(configOf(stated).prometheus['default']?.resourceWindows).toEqual({ cpu: 300 });
  });

  it.each([
    ['resourceQueries: { cpu: "sum by (pod) (rate(x[$window]))" }', []],
    ['resourceQueries: { cpu: "sum by (pod) (rate(x[5m]))" }', []],
    ['resourceQueries: { memory: "sum by (pod) (x)" }', []],
    ['resourceQueries: { cpu: "sum by (node) (rate(x[$window]))" }', ['no-pod-label']],
    ['resourceQueries: { cpu: "sum by (pod) (rate(x))" }', ['query-type']],
    [
      'resourceQueries: { cpu: "sum by (pod) (rate(x))" }, flavor: victoriametrics',
      ['resource-window', 'query-unknown'],
    ],
    ['resourceQueries: { cpu: "median by (pod) (rate(x[5m]))" }', ['query-syntax']],
    [
      'resourceQueries: { cpu: \'sum by (pod) (rate(x{namespace="$namespaces"}[$window]))\' }',
      ['pattern-as-text'],
    ],
    ['resourceWindows: { cpu: 300 }', ['resource-window']],
    ['resourceWindows: { memory: 60 }', []],
    ['resourceWindows: { cpu: 0 }', ['out-of-range']],
    ['resourceWindows: { gpu: 60 }', ['unknown-field']],
  ])('for a data source with %s reports %j', (source, codes) => {
    const { problems } = readServiceConfig(`prometheus: { default: { ${source} } }`, 'promscaler.yaml');

    expect(problems.map(({ code }) => code)).toEqual(codes);
  });

  it.each(readdirSync(BAD_CONFIGS))(
    'for %s reports exactly the problems that the file lists, and no secret',
    (file) => {
      const text = readFileSync(new URL(file, BAD_CONFIGS), 'utf8');
      const expected = Array.from(text.matchAll(/^# expect: (\S+) (\S+) (.+)$/gm), (match) => match.slice(1));

      const { config, problems } = readServiceConfig(text, file);

      expect(expected.length).toBeGreaterThan(0);
      expect(config).toBeNull();
      const reported = problems.map(({ code, place, message }, index) => {
        const part = expected[index]?.[2] ?? 'nothing more';
        const where = place === null ? 'nowhere' : `${place.line}:${place.column}`;
        return [code, where, message.includes(part) ? part : message];
      });
      expect(reported).toEqual(expected);
      expect(problems.map(formatProblem).join('\n')).not.toContain('canary');
    },
  );

  it('uses the cpu query of VictoriaMetrics for it, also if the default is spelled out, but keeps a custom one', () => {
    const cpuOf = (text: string): string =>
      configOf(`prometheus: { default: { ${text} } }`).prometheus['default']?.resourceQueries['cpu'] ?? '';
    const own = cpuOf('flavor: victoriametrics');
    const spelledOut = cpuOf('').replace('(rate', '  (rate');
    const other = 'sum by (namespace, pod, container) (rate(x{namespace=~"$namespaces"}[$window]))';

    expect(own).toContain('and container_cpu_usage_seconds_total');
    expect(cpuOf(`flavor: victoriametrics, resourceQueries: { cpu: '${spelledOut}' }`)).toBe(own);
    expect(cpuOf(`flavor: victoriametrics, resourceQueries: { cpu: '${other}' }`)).toBe(other);
    expect(cpuOf('flavor: thanos')).toBe(cpuOf(''));
  });

  it('detects no flavor if one is configured', () => {
    for (const flavor of ['prometheus', 'thanos', 'mimir', 'victoriametrics'])
      expect(
        configOf(`prometheus: { default: { flavor: ${flavor} } }`).prometheus['default']?.ifVictoriaMetrics,
      ).toBeNull();
  });
});
