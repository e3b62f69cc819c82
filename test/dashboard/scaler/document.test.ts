import { describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { documentJsonSchema } from '../../../src/cli/schema/json-schema.js';
import { readTolerances, toleranceBand } from '../../../src/dashboard/scaler/model/tolerance.js';
import { explainCommand, snapshotFileName } from '../../../src/dashboard/scaler/model/commands.js';
import { groupPods } from '../../../src/dashboard/scaler/model/decision-parts.js';
import { listEffectiveFields } from '../../../src/dashboard/scaler/model/effective-fields.js';
import { splitTimes } from '../../../src/units/split-times.js';
import { schemaRows } from '../../docs/schema-rows.js';
import { metric } from './decisions.js';

describe('readTolerances', () => {
  const of = (spec: unknown) => readTolerances({ spec });

  test('the default, the spec, then each direction', () => {
    expect(of({})).toEqual({ down: 0.1, up: 0.1 });
    expect(of({ tolerance: 0 })).toEqual({ down: 0, up: 0 });
    expect(of({ tolerance: '200m', behavior: { scaleUp: { tolerance: '0.05' } } })).toEqual({
      down: 0.2,
      up: 0.05,
    });
  });

  test('anything else is the default', () => {
    expect(of({ tolerance: 'much' })).toEqual({ down: 0.1, up: 0.1 });
    expect(of({ tolerance: '', behavior: [] })).toEqual({ down: 0.1, up: 0.1 });
    expect(readTolerances({})).toEqual({ down: 0.1, up: 0.1 });
    expect(of('spec')).toEqual({ down: 0.1, up: 0.1 });
  });

  test('the band never starts below 0', () => {
    expect(toleranceBand(60, { down: 0.5, up: 0.25 })).toEqual({ low: 30, high: 75 });
    expect(toleranceBand(60, { down: 2, up: 0 })).toEqual({ low: 0, high: 60 });
  });
});

describe('commands', () => {
  test('plain names stand without quotes', () => {
    const name = { namespace: 'shop', name: 'web' };
    expect(explainCommand(name, null)).toBe('promscaler explain shop/web');
    expect(explainCommand({ ...name, doctor: 'promscaler doctor shop/web' }, null)).toBe(
      'promscaler explain shop/web',
    );
    expect(explainCommand({ ...name, doctor: 'kubectl exec -n a b -- promscaler doctor' }, null)).toBe(
      'kubectl promscaler explain shop/web',
    );
    expect(explainCommand(name, '2026-01-01T10:00:00Z')).toBe(
      'promscaler explain shop/web --at 2026-01-01T10:00:00Z',
    );
    expect(snapshotFileName(name, '2026-01-01T10:00:00Z')).toBe('shop-web-2026-01-01T10-00-00Z.json');
  });

  test('other names cannot run anything', () => {
    const name = { namespace: 'a', name: "b'; rm -rf ~ #" };
    expect(explainCommand(name, null)).toBe(String.raw`promscaler explain 'a/b'\''; rm -rf ~ #'`);
    expect(snapshotFileName({ namespace: '..', name: '/etc/<x>' }, 'now')).toBe('..--etc--x--now.json');
  });

  test.each([
    '$(id)',
    '`id`',
    'a b',
    `a"b`,
    "a'b'",
    'a\\b',
    'a\nb',
    '~',
    '*',
    '!x',
    '$HOME',
    '; id',
    '&& id',
    '> x',
  ])('a shell passes a/%j on as it is, and its file has a plain name', (name) => {
    const words = explainCommand({ namespace: 'a', name }, null).slice('promscaler explain '.length);

    expect(execFileSync('sh', ['-c', `printf %s ${words}`], { encoding: 'utf8' })).toBe(`a/${name}`);
    expect(snapshotFileName({ namespace: 'a', name }, 'now')).toMatch(/^[\w.-]+$/);
  });
});

describe('listEffectiveFields', () => {
  const fieldsOf = (spec: unknown) =>
    new Map(listEffectiveFields({ spec }).map(({ path, value, isWritten }) => [path, [value, isWritten]]));

  test('written fields come first, defaults only where nothing is written', () => {
    const fields = fieldsOf({
      scaleTargetRef: { name: 'web' },
      maxReplicas: 5,
      minReplicas: 2,
      metrics: [{ resource: { name: 'cpu' } }],
    });
    expect([...fields.keys()].slice(0, 4)).toEqual([
      'scaleTargetRef.name',
      'maxReplicas',
      'minReplicas',
      'metrics[0].resource.name',
    ]);
    expect(fields.get('minReplicas')).toEqual(['2', true]);
    expect(fields.get('scaleTargetRef.kind')).toEqual(['Deployment', false]);
    expect(fields.get('tolerance')).toEqual(['0.1', false]);
    expect(fields.has('behavior.scaleUp.selectPolicy')).toBe(false);
  });

  test('the defaults of the preset', () => {
    expect(fieldsOf({ preset: 'chpa' }).get('downscaleForbiddenWindowSeconds')).toEqual(['300', false]);
    expect(fieldsOf({}).get('downscaleForbiddenWindowSeconds')).toEqual(['0', false]);
  });

  test('the defaults are those of the schema, without those of items of lists', () => {
    const written = {
      maxReplicasFrom: { query: 'x' },
      downscaleConfirmation: {},
      fallback: { replicas: 1 },
      podDeletionCost: { query: 'x' },
      forecast: { metric: 'cpu' },
    };
    // `behavior` turns the default scale-up limit off.
    const shown = new Map([...fieldsOf(written), ...fieldsOf({ behavior: {} })]);

    const defaults = schemaRows(documentJsonSchema()).filter(
      (row) => /^spec\.[^[]+$/.test(row.path) && !['', 'required', '`{}`', '`[]`'].includes(row.default),
    );
    expect(defaults.length).toBeGreaterThan(20);
    expect(
      defaults.map(({ path, default: value }) => [path, shown.get(path.slice('spec.'.length))?.[0], value]),
    ).toEqual(defaults.map(({ path, default: value }) => [path, value.replaceAll('`', ''), value]));
  });

  test('without metrics, the default one; an empty fallback is none', () => {
    const fields = fieldsOf({ metrics: [], fallback: {}, podDeletionCost: {} });

    expect(fields.get('metrics')).toEqual(['CPU at 80 percent of the requests', false]);
    expect([...fields.keys()].filter((path) => /^(fallback|podDeletionCost)/.test(path))).toEqual([]);
  });

  test('a start of pods without seconds is learned', () => {
    expect(fieldsOf({ podStart: {} }).get('podStart.seconds')).toEqual(['learned from the pods', false]);
    expect(fieldsOf({ podStart: { seconds: 300 } }).get('podStart.seconds')).toEqual(['300', true]);
    expect(fieldsOf({}).has('podStart.seconds')).toBe(false);
  });

  test('behavior takes the tolerance and the window of the spec', () => {
    const fields = fieldsOf({
      tolerance: 0.2,
      downscaleStabilizationSeconds: 60,
      behavior: { scaleDown: {} },
    });
    expect(fields.get('behavior.scaleUp.tolerance')).toEqual(['0.2', false]);
    expect(fields.get('behavior.scaleDown.stabilizationWindowSeconds')).toEqual(['60', false]);
  });
});

describe('groupPods', () => {
  test('by group and reason, the largest first; groups without pods are absent', () => {
    const pods = { ready: ['a'], unready: [], missing: ['b', 'c', 'd'], ignored: ['__proto__'] };
    const podReasons = { b: 'no sample', c: 'no request', d: 'no request' };
    expect(groupPods(metric('cpu', 1, { pods, podReasons }))).toEqual([
      { name: 'ready', count: 1, parts: [{ reason: null, pods: ['a'] }] },
      {
        name: 'missing',
        count: 3,
        parts: [
          { reason: 'no request', pods: ['c', 'd'] },
          { reason: 'no sample', pods: ['b'] },
        ],
      },
      { name: 'ignored', count: 1, parts: [{ reason: 'reason not known', pods: ['__proto__'] }] },
    ]);
  });
});

describe('splitTimes', () => {
  test('times in UTC are pieces of their own, and the pieces are the sentence', () => {
    const sentence = '5 was recommended at 2026-01-01T10:00:00Z, until 2026-01-01T10:05:00.250Z.';
    const pieces = splitTimes(sentence);
    expect(pieces.filter(({ isTime }) => isTime).map(({ text }) => text)).toEqual([
      '2026-01-01T10:00:00Z',
      '2026-01-01T10:05:00.250Z',
    ]);
    expect(pieces.map(({ text }) => text).join('')).toBe(sentence);
  });

  test('impossible times and other texts stay text', () => {
    expect(splitTimes('at 2026-99-01T10:00:00Z')).toEqual([
      { text: 'at 2026-99-01T10:00:00Z', isTime: false },
    ]);
    expect(splitTimes('')).toEqual([]);
  });
});
