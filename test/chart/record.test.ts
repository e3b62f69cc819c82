import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { parse } from 'yaml';
import { HELM_TIMEOUT_MS, listAt, pick, render, startHelm, textAt } from './helm.js';
import type { Helm, Rendered } from './helm.js';

jest.setTimeout(HELM_TIMEOUT_MS);

describe('record.enabled', () => {
  let helm: Helm;

  beforeAll(async () => {
    helm = await startHelm();
  });

  const volumesOf = (objects: readonly Rendered[]): readonly unknown[] =>
    listAt(pick(objects, 'Deployment'), 'spec', 'template', 'spec', 'volumes');

  it('is in the service config, and mounts a volume with room for all files', () => {
    const objects = render(helm, { record: { enabled: true, which: 'all' } });
    const text = textAt(pick(objects, 'ConfigMap', '-config'), 'data', 'promscaler.yaml');
    const container = ['spec', 'template', 'spec', 'containers', 0] as const;

    expect(parse(text)).toMatchObject({
      record: {
        path: '/var/lib/promscaler/decisions.ndjson',
        which: 'all',
        maxFileBytes: 104_857_600,
        maxFiles: 5,
      },
    });
    expect(volumesOf(objects)).toContainEqual({ name: 'record', emptyDir: { sizeLimit: '564Mi' } });
    expect(listAt(pick(objects, 'Deployment'), ...container, 'volumeMounts')).toContainEqual({
      name: 'record',
      mountPath: '/var/lib/promscaler',
    });
  });

  it('mounts an existing claim', () => {
    const objects = render(helm, { record: { enabled: true, existingClaim: 'decisions' } });

    expect(volumesOf(objects)).toContainEqual({
      name: 'record',
      persistentVolumeClaim: { claimName: 'decisions' },
    });
  });
});
