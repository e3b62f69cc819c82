import { describe, expect, it } from '@jest/globals';
import { type DocumentSet, nextSet } from '../../src/config/document-set.js';
import { readerOfThisThread } from '../../src/config/document-reader.js';
import type { DocumentObject } from '../../src/config/document-reader.js';
import { rejectionEffects, type LoadedScalers } from '../../src/config/scaler-files.js';
import { readObjects, addObjects, type AddedObjects, type Capacity } from '../../src/config/read-objects.js';
import { readDocuments, type ReadOptions } from '../../src/scaler/read/read-scalers.js';
import { ManualClock } from '../support/manual-clock.js';

const NO_FILES = nextSet([], new Map());
const EMPTY: DocumentSet = new Map();

function object(name: string, spec: object = {}, namespace = 'shop'): DocumentObject {
  const specText = JSON.stringify({ scaleTargetRef: { name }, maxReplicas: 3, ...spec });
  return { namespace, name, specText };
}

/** Adds these objects to a set; `last` is the result before. */
async function added(
  objects: readonly DocumentObject[],
  options: {
    readonly last?: AddedObjects | null;
    readonly files?: typeof NO_FILES;
    readonly read?: ReadOptions;
    readonly capacity?: Capacity;
  } = {},
): Promise<AddedObjects> {
  const { last = null, files = NO_FILES, read = {}, capacity } = options;
  const clock = new ManualClock();
  const reader = readerOfThisThread(clock);
  const found = await readObjects(objects, new Map(), { read, reader, clock });
  return addObjects(files, found, {
    last: last?.set ?? EMPTY,
    ...(capacity === undefined ? {} : { capacity }),
  });
}

function filesWith(name: string, text: string | null, last: DocumentSet = EMPTY): typeof NO_FILES {
  const files = [{ name: 'web.yaml', text, error: text === null ? 'no' : null, isOwnMount: false }];
  const documents = text === null ? [] : readDocuments(text, 'web.yaml');
  return nextSet([{ contents: { path: name, files, error: null }, documents }], last, {
    mayBeAbsent: true,
  });
}

const FILE =
  'apiVersion: promscaler.dev/v1\nkind: Scaler\nmetadata: { name: web, namespace: shop }\nspec: { scaleTargetRef: { name: web }, maxReplicas: 9 }\n';

/** `shop/web 3`. */
function namesOf({ set }: AddedObjects): readonly string[] {
  return [...set].map(([key, { scaler }]) => `${key} ${scaler.spec.maxReplicas}`);
}

function codesOf({ problems }: AddedObjects): readonly string[] {
  return problems.map(({ code }) => code);
}

describe('addObjects', () => {
  it('reports a problem of an object with its path, no line, and the most similar valid name', async () => {
    const { problems } = await added([object('web', { maxReplica: 5 })]);

    expect(problems).toMatchObject([
      {
        code: 'unknown-field',
        file: 'scalers.promscaler.dev/shop/web',
        place: null,
        path: 'spec.maxReplica',
        sourceLine: null,
        message: expect.stringContaining('did you mean "maxReplicas"?'),
      },
    ]);
  });

  it('keeps the last valid version of an invalid object, applies the fixed one, and removes a deleted one', async () => {
    const first = await added([object('web'), object('api')]);
    const wrong = await added([object('web', { maxReplicas: -1 }), object('api')], { last: first });
    const gone = await added([object('web', { maxReplicas: 5 })], { last: wrong });

    expect(namesOf(wrong)).toEqual(['shop/api 3', 'shop/web 3']);
    expect(wrong.set.get('shop/web')?.scaler).toBe(first.set.get('shop/web')?.scaler);
    expect(wrong.verdicts.get('shop/web')).toMatchObject({ problems: [{ code: 'out-of-range' }] });
    expect(wrong.verdicts.get('shop/web')?.scaler?.spec.maxReplicas).toBe(3);
    expect(namesOf(gone)).toEqual(['shop/web 5']);
    expect(gone.verdicts.has('shop/api')).toBe(false);
  });

  it('returns the same scaler object for an unchanged document', async () => {
    const first = await added([object('web')]);
    const second = await added([object('web')], { last: first });

    expect(second.set.get('shop/web')?.scaler).toBe(first.set.get('shop/web')?.scaler);
  });

  it('has no scaler for an object that was never valid', async () => {
    const found = await added([object('web', { maxReplicas: -1 })]);

    expect(namesOf(found)).toEqual([]);
    expect(found.verdicts.get('shop/web')?.scaler).toBeNull();
  });

  it('rejects an object without a spec', async () => {
    const found = await added([{ namespace: 'shop', name: 'web', specText: '' }]);

    expect(codesOf(found)).toContain('missing-field');
  });

  it('lets an object scale only in its own namespace: a target with a namespace is an unknown field', async () => {
    const target = { scaleTargetRef: { name: 'web', namespace: 'kube-system' } };

    const found = await added([object('web', target)]);

    expect(codesOf(found)).toEqual(['unknown-field']);
    expect(namesOf(found)).toEqual([]);
  });

  it('lets an object use only data sources that admit its namespace', async () => {
    const service = { namespaces: [], sources: [{ name: 'default', namespaces: ['shop'] }] };

    const found = await added([object('web'), object('web', {}, 'lab')], { read: { service } });

    expect(namesOf(found)).toEqual(['shop/web 3']);
    expect(found.verdicts.get('lab/web')?.problems).toMatchObject([{ code: 'source-not-admitted' }]);
  });
});

describe('what is in effect instead of a rejected document', () => {
  const loaded = ({ set, problems, verdicts }: AddedObjects): LoadedScalers => ({
    scalers: Array.from(set.values(), ({ scaler }) => scaler),
    problems,
    verdicts,
    files: new Map(Array.from(set, ([key, { file }]) => [key, file])),
    changed: true,
    isComplete: true,
  });
  const effects = (found: AddedObjects): readonly string[] =>
    found.problems.map(rejectionEffects(loaded(found)));
  const invalid = object('web', { maxReplica: 5 });

  it('is its last valid version, none, or the file with the same name', async () => {
    const valid = await added([object('web')]);
    const deleted = await added([], { last: valid });

    expect(effects(await added([invalid], { last: valid }))).toEqual(['last-valid']);
    expect(effects(await added([invalid], { last: deleted }))).toEqual(['none']);
    expect(effects(await added([object('web')], { files: filesWith('scalers', FILE) }))).toEqual(['file']);
  });

  it('is the same for a file, and unknown if the name is', () => {
    const wrong = FILE.replace('maxReplicas', 'maxReplica');
    const { set } = filesWith('scalers', FILE);
    const of = (text: string, last?: DocumentSet): readonly string[] => {
      const found = filesWith('scalers', text, last);
      return effects({ ...found, verdicts: new Map() });
    };

    expect(new Set(of(wrong, set))).toEqual(new Set(['last-valid']));
    expect(new Set(of(wrong))).toEqual(new Set(['none']));
    expect(new Set(of('kind: [', set))).toEqual(new Set(['unknown']));
  });
});

describe('a file and an object with the same name', () => {
  it('use the file, and a problem of the object names its line', async () => {
    const found = await added([object('web')], { files: filesWith('scalers', FILE) });

    expect(namesOf(found)).toEqual(['shop/web 9']);
    expect(found.problems).toMatchObject([
      {
        code: 'duplicate-document',
        file: 'scalers.promscaler.dev/shop/web',
        message: 'shop/web is also in web.yaml:3: a file takes precedence, so this object is not used',
      },
    ]);
    expect(found.verdicts.get('shop/web')?.scaler).toBeNull();
  });

  it('keep the scaler of the object in effect while the file is invalid', async () => {
    const first = await added([object('web')]);
    const files = filesWith('scalers', FILE.replace('maxReplicas', 'maxReplica'), first.set);

    const found = await added([object('web', { maxReplicas: 4 })], { files, last: first });

    expect(namesOf(found)).toEqual(['shop/web 3']);
    expect(codesOf(found)).toEqual(['duplicate-document']);
  });

  it('use the file even while it cannot be read', async () => {
    const first = await added([], { files: filesWith('scalers', FILE) });

    const found = await added([object('web')], {
      files: filesWith('scalers', null, first.set),
      last: first,
    });

    expect(namesOf(found)).toEqual(['shop/web 9']);
  });

  it('use the object when the file is removed, even if it was the last one of its directory', async () => {
    const first = await added([], { files: filesWith('scalers', FILE) });
    const emptied = nextSet(
      [{ contents: { path: 'scalers', files: [], error: null }, documents: [] }],
      first.set,
      { mayBeAbsent: true },
    );

    const found = await added([object('web')], { files: emptied, last: first });

    expect(namesOf(found)).toEqual(['shop/web 3']);
    expect(codesOf(found)).toEqual([]);
  });
});

describe('more objects than the capacity', () => {
  it('do not affect the objects in effect and their edits, and are rejected', async () => {
    const first = await added([object('web')]);
    const more = [object('a'), object('b'), object('web', { maxReplicas: 4 })];

    const found = await added(more, { last: first, capacity: { documents: 2, length: 10_000 } });

    expect(namesOf(found).toSorted()).toEqual(['shop/a 3', 'shop/web 4']);
    expect(found.verdicts.get('shop/b')?.problems).toMatchObject([{ code: 'yaml-count' }]);
  });

  it('count with the size of their text as well', async () => {
    const found = await added([object('a'), object('b')], { capacity: { documents: 9, length: 60 } });

    expect(namesOf(found)).toEqual(['shop/a 3']);
    expect(codesOf(found)).toEqual(['yaml-size']);
  });
});

describe('a path without documents', () => {
  const absent = { path: 'scalers', files: [], error: 'no such file or directory', isAbsent: true };

  it.each([
    [true, []],
    [false, ['unreadable']],
  ])(
    'that does not exist, while documents come from elsewhere: %p, has the problems %p',
    (mayBeAbsent, codes) => {
      const { problems } = nextSet([{ contents: absent, documents: [] }], EMPTY, { mayBeAbsent });

      expect(problems.map(({ code }) => code)).toEqual(codes);
    },
  );

  it('is a problem if its documents are in effect, or if reading it is denied', () => {
    const before = filesWith('scalers', FILE).set;
    const denied = { path: 'scalers', files: [], error: 'permission denied' };
    const options = { mayBeAbsent: true };

    const lost = nextSet([{ contents: absent, documents: [] }], before, options);
    const closed = nextSet([{ contents: denied, documents: [] }], EMPTY, options);

    expect([...lost.problems, ...closed.problems].map(({ code }) => code)).toEqual([
      'unreadable',
      'unreadable',
    ]);
    expect(lost.set.size).toBe(1);
  });
});
