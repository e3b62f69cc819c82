import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { findConnection, type Connection } from '../../../src/kubernetes/access/connection.js';
import { SILENT_LOG } from '../../../src/units/log.js';
import { folderOf } from '../../cli/fake-io.js';
import { ManualClock } from '../../support/manual-clock.js';
import { CA } from './test-certificates.js';

const IN_POD = { KUBERNETES_SERVICE_HOST: '10.0.0.1' };

const kubeconfig = (cluster: object = {}, user: object = { token: 'secret' }): string =>
  JSON.stringify({
    'current-context': 'dev',
    clusters: [{ name: 'dev', cluster: { server: 'https://example.test:6443', ...cluster } }],
    users: [{ name: 'dev', user }],
    contexts: [{ name: 'dev', context: { cluster: 'dev', user: 'dev' } }],
  });

function find(
  folder: string,
  options: Partial<Parameters<typeof findConnection>[0]> = {},
): Promise<Connection> {
  return findConnection({
    settings: {},
    env: {},
    home: folder,
    clock: new ManualClock(),
    log: SILENT_LOG,
    serviceAccountDirectory: folder,
    ...options,
  });
}

describe('a kubeconfig', () => {
  it('has the proxy of the cluster, and the headers of the user to impersonate', async () => {
    const user = {
      token: 'secret',
      as: 'jane',
      'as-uid': '7',
      'as-groups': ['dev', 'ops'],
      'as-user-extra': { 'example.com/team %': ['a', 'b'] },
    };
    const folder = folderOf({ '.kube/config': kubeconfig({ 'proxy-url': 'http://proxy:3128' }, user) });

    const { proxyUrl, headers, authorization } = await find(folder);

    expect(proxyUrl).toBe('http://proxy:3128');
    expect(headers).toEqual({
      'Impersonate-User': 'jane',
      'Impersonate-Uid': '7',
      'Impersonate-Group': ['dev', 'ops'],
      'Impersonate-Extra-example.com%2Fteam%20%25': ['a', 'b'],
    });
    expect(await authorization()).toBe('Bearer secret');
  });

  it('comes before the service account of the pod if a command prefers it, as in kubectl', async () => {
    const folder = folderOf({ token: 'secret', 'ca.crt': CA });
    const inPod = { env: IN_POD, prefersKubeconfig: true };

    const without = await find(folder, inPod);
    const path = join(folder, '.kube/config');
    await mkdir(join(folder, '.kube'));
    await writeFile(path, kubeconfig());
    const found = [
      await find(folder, inPod),
      await find(folder, { ...inPod, home: null, env: { ...IN_POD, KUBECONFIG: path } }),
    ];

    expect(without.isInCluster).toBe(true);
    expect(found.map(({ url }) => url)).toEqual(Array(2).fill('https://example.test:6443'));
    // The service itself.
    expect((await find(folder, { env: IN_POD })).isInCluster).toBe(true);
  });
});
