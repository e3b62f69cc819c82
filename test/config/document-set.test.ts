import { describe, expect, it } from '@jest/globals';
import { type DocumentSet, MAX_TOTAL_LENGTH, nextSet } from '../../src/config/document-set.js';
import { type ReadDocument, readDocuments } from '../../src/scaler/read/read-scalers.js';

const NOTHING: ReadDocument = {
  key: null,
  scaler: null,
  problems: [],
  file: 'many.yaml',
  place: null,
  nameLine: null,
};

function pathOf(
  documents: readonly ReadDocument[],
  texts: readonly string[] = [''],
): Parameters<typeof nextSet>[0] {
  const files = texts.map((text, index) => ({ name: `${index}.yaml`, text, error: null, isOwnMount: false }));
  return [{ contents: { path: 'scalers', files, error: null }, documents }];
}

function runningSet(): DocumentSet {
  const text =
    'apiVersion: promscaler.dev/v1\nkind: Scaler\nmetadata: { name: a, namespace: shop }\nspec: { scaleTargetRef: { name: a }, maxReplicas: 3 }\n';
  return nextSet(pathOf(readDocuments(text, 'a.yaml'), [text]), new Map()).set;
}

describe('nextSet', () => {
  it.each([
    [20_000, []],
    [20_001, ['yaml-count']],
  ])('of %p documents reports %p', (count, codes) => {
    const { set, problems } = nextSet(pathOf(Array.from({ length: count }, () => NOTHING)), runningSet());

    expect(problems.map(({ code }) => code)).toEqual(codes);
    expect(set.has('shop/a')).toBe(codes.length > 0);
  });

  it.each([
    [MAX_TOTAL_LENGTH, []],
    [MAX_TOTAL_LENGTH + 1, ['yaml-size']],
  ])('of %p characters in two files reports %p', (length, codes) => {
    const half = 'x'.repeat(MAX_TOTAL_LENGTH / 2);
    const texts = [half, 'x'.repeat(length - half.length)];

    const { problems } = nextSet(pathOf([NOTHING], texts), runningSet());

    expect(problems.map(({ code }) => code)).toEqual(codes);
  });

  it('warns about a file that is a subPath mount', () => {
    const files = [{ name: 'a.yaml', text: '', error: null, isOwnMount: true }];
    const contents = { path: 'scalers', files, error: null };

    const { problems } = nextSet([{ contents, documents: [NOTHING] }], new Map());

    expect(problems).toMatchObject([{ code: 'not-updated', severity: 'warning', file: 'a.yaml' }]);
  });

  it('keeps the documents of one file that cannot be read, and reports the reason', () => {
    const files = [{ name: 'a.yaml', text: null, error: 'EACCES: permission denied', isOwnMount: false }];
    const contents = { path: 'scalers', files, error: null };

    const { set, problems } = nextSet([{ contents, documents: [NOTHING] }], runningSet());

    expect(Array.from(set.keys())).toEqual(['shop/a']);
    expect(problems).toMatchObject([{ code: 'unreadable', file: 'a.yaml' }]);
  });
});
