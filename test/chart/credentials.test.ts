import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { parse } from 'yaml';
import { CREDENTIALS, EXISTING } from './cases.js';
import { HELM_TIMEOUT_MS, at, isMapping, listAt, pick, render, startHelm, textAt } from './helm.js';
import type { Helm, Rendered } from './helm.js';

jest.setTimeout(HELM_TIMEOUT_MS);

let helm: Helm;

beforeAll(async () => {
  helm = await startHelm();
});

const configOf = (objects: readonly Rendered[]): unknown =>
  parse(textAt(pick(objects, 'ConfigMap', '-config'), 'data', 'promscaler.yaml'));

const podOf = (objects: readonly Rendered[]): unknown =>
  at(pick(objects, 'Deployment'), 'spec', 'template', 'spec');

/** Path in the container -> Secret and key, for all projected volumes. */
function filesOf(pod: unknown): Readonly<Record<string, string>> {
  const volumes = listAt(pod, 'volumes');
  return Object.fromEntries(
    listAt(pod, 'containers', 0, 'volumeMounts').flatMap((mount) => {
      const volume = volumes.find((one) => at(one, 'name') === at(mount, 'name'));
      if (at(volume, 'projected') === undefined) return [];
      return listAt(volume, 'projected', 'sources').map((one) => [
        `${textAt(mount, 'mountPath')}/${textAt(one, 'secret', 'items', 0, 'path')}`,
        `${textAt(one, 'secret', 'name')} ${textAt(one, 'secret', 'items', 0, 'key')}`,
      ]);
    }),
  );
}

/** Returns all file paths that a config contains. */
function namedFiles(value: unknown): readonly string[] {
  if (!isMapping(value)) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    key.endsWith('File') ? [String(member)] : namedFiles(member),
  );
}

describe('credentials', () => {
  it('in plain text are only in a Secret', () => {
    const objects = render(helm, CREDENTIALS);
    const others = objects.filter(({ kind }) => kind !== 'Secret');

    expect(JSON.stringify(others)).not.toMatch(/canary|PRIVATE KEY|CERTIFICATE/);
    expect(JSON.stringify(others)).not.toContain(Buffer.from('canary').toString('base64').slice(0, 8));
    const data = pick(objects, 'Secret')['data'];
    expect(Object.keys(isMapping(data) ? data : {})).toEqual([
      'default.token',
      'mimir.ca.crt',
      'mimir.password',
      'mimir.tls.crt',
      'mimir.tls.key',
    ]);
    expect(Buffer.from(textAt(data, 'mimir.password'), 'base64').toString()).toBe('canary-password');
  });

  it('are named in the service config, each as a mounted file', () => {
    const objects = render(helm, CREDENTIALS);
    const directory = '/etc/promscaler/credentials';

    expect(at(configOf(objects), 'prometheus')).toEqual({
      default: { bearerTokenFile: `${directory}/default/token` },
      mimir: {
        urls: ['https://mimir.example.com'],
        flavor: 'mimir',
        basicAuth: { username: 'team-a', passwordFile: `${directory}/mimir/password` },
        tls: {
          caFile: `${directory}/mimir/ca.crt`,
          certFile: `${directory}/mimir/tls.crt`,
          keyFile: `${directory}/mimir/tls.key`,
        },
      },
    });
    const files = filesOf(podOf(objects));
    expect(files).toEqual({
      [`${directory}/default/token`]: 'rel-promscaler-credentials default.token',
      [`${directory}/mimir/ca.crt`]: 'rel-promscaler-credentials mimir.ca.crt',
      [`${directory}/mimir/tls.crt`]: 'rel-promscaler-credentials mimir.tls.crt',
      [`${directory}/mimir/tls.key`]: 'rel-promscaler-credentials mimir.tls.key',
      [`${directory}/mimir/password`]: 'rel-promscaler-credentials mimir.password',
    });
    expect([...namedFiles(configOf(objects))].sort()).toEqual(Object.keys(files).sort());
  });

  it('of an existing Secret are mounted with the configured keys, and the chart creates none', () => {
    const objects = render(helm, EXISTING);
    const directory = '/etc/promscaler/credentials/default';

    expect(objects.map(({ kind }) => kind)).not.toContain('Secret');
    expect(filesOf(podOf(objects))).toEqual({
      [`${directory}/ca.crt`]: 'prometheus-auth ca.pem',
      [`${directory}/password`]: 'prometheus-auth pass',
    });
    expect(at(configOf(objects), 'prometheus', 'default')).toEqual({
      urls: ['https://p.example.com'],
      basicAuth: { username: 'prom', passwordFile: `${directory}/password` },
      tls: { caFile: `${directory}/ca.crt` },
    });
  });

  it('can come from both, next to the tls settings of config', () => {
    const objects = render(helm, {
      config: { prometheus: { default: { tls: { serverName: 'p' } } } },
      credentials: { default: { bearerToken: 't', existingSecret: 'auth', keys: { ca: 'ca.crt' } } },
    });

    expect(Object.values(filesOf(podOf(objects))).sort()).toEqual([
      'auth ca.crt',
      'rel-promscaler-credentials default.token',
    ]);
    expect(at(configOf(objects), 'prometheus', 'default', 'tls')).toEqual({
      serverName: 'p',
      caFile: '/etc/promscaler/credentials/default/ca.crt',
    });
  });

  it('replace the pod when they are added or removed, not when they change: their files are read again', () => {
    const podTemplate = (bearerToken: string | null): unknown =>
      at(
        pick(
          render(helm, bearerToken === null ? {} : { credentials: { default: { bearerToken } } }),
          'Deployment',
        ),
        'spec',
        'template',
      );

    expect(podTemplate('a')).toEqual(podTemplate('b'));
    expect(podTemplate('a')).not.toEqual(podTemplate(null));
  });

  it('can be read only by the group of the pod', () => {
    const volumes = listAt(podOf(render(helm, EXISTING)), 'volumes');

    expect(volumes.map((volume) => at(volume, 'projected', 'defaultMode'))).toContain(0o440);
  });
});
