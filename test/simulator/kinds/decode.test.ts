import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../src/simulator/kinds/json.js';
import { decode } from '../../../src/simulator/kinds/decode.js';
import { fieldChanges, fieldsFromTree, fieldsToTree } from '../../../src/simulator/kinds/field-set.js';
import { knownType } from '../../../src/simulator/kinds/known.js';
import { scale } from '../../../src/simulator/kinds/meta.js';
import type { ObjectType } from '../../../src/simulator/kinds/type.js';

function typeNamed(apiVersion: string, kind: string): ObjectType {
  const type = knownType(apiVersion, kind);
  if (type === null) throw new Error(`${kind} is not known`);
  return type;
}

describe('a decoded object', () => {
  it('loses unknown and empty fields and gets the fields that are always set', () => {
    const unknown: string[] = [];
    const spec = { replicas: 0, paused: false, minReadySeconds: 0, wrong: 1 };

    const read = decode(typeNamed('apps/v1', 'Deployment'), { spec, more: 1 }, { unknown });

    expect(read['spec']).toEqual({
      replicas: 0,
      strategy: {},
      template: { metadata: {}, spec: { containers: null } },
    });
    expect(read['status']).toEqual({});
    expect(unknown).toEqual(['spec.wrong', 'more']);
  });

  it.each<[JsonObject, string]>([
    [{ spec: { replicas: 'x' } }, 'string into Go struct field ScaleSpec.spec.replicas of type int32'],
    [{ spec: { replicas: 1.5 } }, 'number 1.5 into Go struct field ScaleSpec.spec.replicas of type int32'],
    [{ spec: { replicas: 2 ** 31 } }, 'number into Go struct field ScaleSpec.spec.replicas of type int32'],
    [{ spec: [] }, 'array into Go struct field Scale.spec of type ScaleSpec'],
    [
      { metadata: { labels: { a: 1 } } },
      'number into Go struct field ObjectMeta.metadata.labels of type string',
    ],
  ])('is rejected as %j', (sent, message) => {
    expect(() => decode(scale, sent)).toThrow(`json: cannot unmarshal ${message}`);
  });

  it.each([
    ['2026-01-01T00:00:01.000000Z', true],
    ['2026-01-01T00:00:01Z', false],
    ['2026-13-01T00:00:01.000000Z', false],
    ['soon', false],
  ])('has a time with microseconds: %s is one: %s', (renewTime, isFine) => {
    const read = (): JsonObject =>
      decode(typeNamed('coordination.k8s.io/v1', 'Lease'), { spec: { renewTime } });

    if (isFine) expect(read()).toMatchObject({ spec: { renewTime } });
    else expect(read).toThrow('parsing time');
  });

  it.each([
    ['500m', true],
    ['1Gi', true],
    ['1e3', true],
    [1, true],
    ['1 Gi', false],
    ['much', false],
  ])('has quantities: %s is one: %s', (cpu, isFine) => {
    const containers = [{ name: 'a', image: 'b', resources: { requests: { cpu } } }];
    const read = (): JsonObject => decode(typeNamed('v1', 'Pod'), { spec: { containers } });

    if (isFine)
      expect(read()).toMatchObject({
        spec: { containers: [{ resources: { requests: { cpu: String(cpu) } } }] },
      });
    else expect(read).toThrow('quantities must match');
  });
});

describe('the fields of a write', () => {
  const type = typeNamed('v1', 'Pod');

  it('are items by their keys, and the item itself if it is new', () => {
    const condition = { type: 'Ready', status: 'True' };

    const { changed, removed } = fieldChanges(
      type,
      { status: { phase: 'Pending', conditions: [{ type: 'Initialized', status: 'True' }] } },
      { status: { phase: 'Running', conditions: [condition] } },
    );

    expect(fieldsToTree(changed)).toEqual({
      'f:status': {
        'f:phase': {},
        'f:conditions': { 'k:{"type":"Ready"}': { '.': {}, 'f:type': {}, 'f:status': {} } },
      },
    });
    expect([...removed].sort()).toEqual([
      'f:status\nf:conditions\nk:{"type":"Initialized"}',
      'f:status\nf:conditions\nk:{"type":"Initialized"}\nf:status',
      'f:status\nf:conditions\nk:{"type":"Initialized"}\nf:type',
    ]);
  });

  it('are the same after they were written and read', () => {
    const tree = { 'f:data': { '.': {}, 'f:a': {}, 'f:b': { 'f:c': {} } } };

    expect(fieldsToTree(fieldsFromTree(tree))).toEqual(tree);
  });
});
