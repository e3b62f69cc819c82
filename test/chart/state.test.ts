import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { HELM_TIMEOUT_MS, at, render, startHelm, textAt } from './helm.js';
import type { Helm, Rendered, Values } from './helm.js';

jest.setTimeout(HELM_TIMEOUT_MS);

let helm: Helm;

beforeAll(async () => {
  helm = await startHelm();
});

const statesOf = (values: Values): readonly Rendered[] =>
  render(helm, values).filter(
    (object) => object['kind'] === 'ConfigMap' && /state/.test(textAt(object, 'metadata', 'name')),
  );

describe('the stored state', () => {
  it('is in 16 ConfigMaps of the namespace, whose names do not depend on the release name', () => {
    const names = statesOf({ fullnameOverride: 'other', nameOverride: 'another' }).map((object) =>
      textAt(object, 'metadata', 'name'),
    );

    expect(names).toHaveLength(16);
    expect(names[0]).toBe('promscaler-state-00');
    expect(names[9]).toBe('promscaler-state-09');
    expect(names[15]).toBe('promscaler-state-15');
    expect(new Set(names).size).toBe(16);
  });

  it('is rendered without data, so that an upgrade resets nothing, and is removed with the release', () => {
    for (const object of statesOf({})) {
      expect(Object.keys(object).sort()).toEqual(['apiVersion', 'kind', 'metadata']);
      expect(at(object, 'metadata', 'annotations')).toBeUndefined();
    }
  });

  it('is not rendered if disabled', () => {
    expect(statesOf({ state: { enabled: false } })).toEqual([]);
  });
});

describe('the Lease', () => {
  it('is not part of the release: the service creates it', () => {
    expect(render(helm).map(({ kind }) => kind)).not.toContain('Lease');
  });
});
