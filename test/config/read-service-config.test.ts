import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { readServiceConfig, serviceFacts } from '../../src/config/read-service-config.js';
import type { ServiceConfig } from '../../src/config/service-config.js';
import type { SourceConfig } from '../../src/prometheus/source-config.js';
import { formatProblem } from '../../src/scaler/problems/format-problem.js';

const FOLDER = new URL('./bad/', import.meta.url);

function configOf(text: string, file = 'conf/promscaler.yaml'): ServiceConfig {
  const { config, problems } = readServiceConfig(text, file);
  expect(problems).toEqual([]);
  if (config === null) throw new Error('the config was refused');
  return config;
}

describe('readServiceConfig', () => {
  it.each(['', '# nothing\n', '{}', 'prometheus:\nkubernetes:\nscalers:\n'])(
    'gives every value its default for %j',
    (text) => {
      expect(configOf(text)).toEqual({
        prometheus: {
          default: {
            name: 'default',
            urls: ['http://prometheus:9090'],
            flavor: 'prometheus',
            timeoutSeconds: 10,
            maxConcurrentQueries: 10,
            scrapeIntervalSeconds: 30,
            headers: {},
            bearerTokenFile: null,
            basicAuth: null,
            signIn: null,
            tls: null,
            resourceWindowSeconds: 120,
            resourceQueries: {
              cpu: 'sum by (namespace, pod, container) (rate(container_cpu_usage_seconds_total{namespace=~"$namespaces", container!="", container!="POD"}[$window]))',
              memory:
                'sum by (namespace, pod, container) (container_memory_working_set_bytes{namespace=~"$namespaces", container!="", container!="POD"})',
            },
            namespaces: [],
          },
        },
        recoveryHoldMaxSeconds: 900,
        kubernetes: { namespaces: [], kubeconfig: null, context: null, url: null },
        scalers: { paths: ['conf/scalers'], customResources: false },
        server: { port: 8080 },
        state: { enabled: null },
        leaderElection: {
          enabled: null,
          leaseDurationSeconds: 15,
          renewDeadlineSeconds: 10,
          retryPeriodSeconds: 2,
        },
        defaults: {},
        log: { level: 'info', format: 'json' },
      });
    },
  );

  it('joins relative paths to the folder of the config and leaves absolute ones', () => {
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

  it('gives sources that the Prometheus client takes as they are', () => {
    const source: SourceConfig | undefined = configOf('').prometheus['default'];

    expect(source?.name).toBe('default');
  });

  it.each([
    [30, 120],
    [31, 124],
    [1, 120],
  ])('with a scrape every %p s has a window of %p s unless one is written', (scrape, window) => {
    const config = configOf(`prometheus: { default: { scrapeIntervalSeconds: ${scrape} } }`);

    expect(config.prometheus['default']?.resourceWindowSeconds).toBe(window);
  });

  it('takes a window of exactly four scrapes', () => {
    const text = 'prometheus: { default: { scrapeIntervalSeconds: 60, resourceWindowSeconds: 240 } }';

    expect(configOf(text).prometheus['default']?.resourceWindowSeconds).toBe(240);
  });

  it('keeps defaults as written and says what it admits', () => {
    const config = configOf(
      'defaults: { minReplicas: 2, behavior: {} }\nkubernetes: { namespaces: [shop] }\nprometheus: { a: { namespaces: [shop] } }\n',
    );

    expect(config.defaults).toEqual({ minReplicas: 2, behavior: {} });
    expect(serviceFacts(config).namespaces).toEqual(['shop']);
    expect(serviceFacts(config).sources).toMatchObject([{ name: 'a', namespaces: ['shop'] }]);
  });

  it.each(readdirSync(FOLDER))('of %s tells exactly the problems it says, and no secret', (file) => {
    const text = readFileSync(new URL(file, FOLDER), 'utf8');
    const expected = Array.from(text.matchAll(/^# expect: (\S+) (\S+) (.+)$/gm), (match) => match.slice(1));

    const { config, problems } = readServiceConfig(text, file);

    expect(expected.length).toBeGreaterThan(0);
    expect(config).toBeNull();
    const told = problems.map(({ code, place, message }, index) => {
      const part = expected[index]?.[2] ?? 'nothing more';
      const where = place === null ? 'nowhere' : `${place.line}:${place.column}`;
      return [code, where, message.includes(part) ? part : message];
    });
    expect(told).toEqual(expected);
    expect(problems.map(formatProblem).join('\n')).not.toContain('canary');
  });
});
