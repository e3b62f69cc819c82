import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { decide } from '../../../src/decision/decide.js';
import { decisionToJson } from '../../../src/decision/result/write-json.js';
import { parseSnapshot } from '../../../src/decision/snapshot/parse-snapshot.js';
import type { SnapshotAnswer } from '../../../src/api/answers.js';
import { decideWith } from '../../../src/dashboard/scaler/what-if/decide-with.js';
import {
  readInput,
  textAt,
  withValue,
  isAtField,
  listFields,
} from '../../../src/dashboard/scaler/what-if/fields.js';
import { formatPath } from '../../../src/scaler/problems/finding.js';
import { parseScaler } from '../../../src/scaler/read/parse-scaler.js';
import { documentJsonSchema } from '../../../src/cli/schema/json-schema.js';
import { schemaRows } from '../../docs/schema-rows.js';

const VECTORS = join(import.meta.dirname, '../../vectors');

function snapshotsOf(file: string): readonly SnapshotAnswer[] {
  const vectors = JSON.parse(readFileSync(join(VECTORS, file), 'utf8')) as { snapshot: SnapshotAnswer }[];
  return vectors.map(({ snapshot }) => snapshot);
}

/** 4 replicas, cpu at 135 % of 60 %. */
function snapshotWith(spec: Readonly<Record<string, unknown>>, metrics?: unknown): SnapshotAnswer {
  const pods = ['a', 'b', 'c', 'd'].map((name) => ({
    name,
    phase: 'Running' as const,
    deleting: false,
    startTime: '2026-01-01T08:00:00Z',
    ready: true,
    readyChangedAt: '2026-01-01T08:01:00Z',
    requests: { main: { cpu: '1' } },
  }));
  const containers = Object.fromEntries(pods.map(({ name }) => [name, { main: 1.35 }]));
  return {
    scaler: {
      apiVersion: 'promscaler.dev/v1',
      kind: 'Scaler',
      metadata: { namespace: 'shop', name: 'web' },
      spec: {
        scaleTargetRef: { name: 'web' },
        maxReplicas: 6,
        metrics: metrics ?? [{ resource: { name: 'cpu', target: { averageUtilization: 60 } } }],
        ...spec,
      },
    },
    now: '2026-01-01T10:00:00Z',
    target: { specReplicas: 4, statusReplicas: 4 },
    pods,
    samples: [{ at: '2026-01-01T09:59:50Z', windowSeconds: 60, containers }],
    state: {
      lastScaleUp: null,
      lastScaleDown: null,
      recommendations: [],
      scaleEvents: [],
      failingSince: {},
      zeroedBySelf: false,
      inactiveSince: null,
    },
  };
}

describe('decideWith', () => {
  test.each(readdirSync(VECTORS).filter((file) => file.endsWith('.json')))(
    'the same document gives the same decision, for every fifth case of %s',
    (file) => {
      const snapshots = snapshotsOf(file).filter((_, index) => index % 5 === 0);
      expect(snapshots.length).toBeGreaterThan(0);
      for (const snapshot of snapshots) {
        const { decision, problems } = decideWith(snapshot, structuredClone(snapshot.scaler));
        expect(decision).toEqual(decisionToJson(decide(parseSnapshot(snapshot))));
        expect(problems).toEqual([]);
      }
    },
  );

  test('another maximum gives another decision', () => {
    const snapshot = snapshotWith({});
    expect(decideWith(snapshot, snapshot.scaler).decision?.desiredReplicas).toBe(6);
    const raised = withValue(snapshot.scaler, ['spec', 'maxReplicas'], 20);
    const { decision, problems, notes } = decideWith(snapshot, raised);
    expect([decision?.recommendedReplicas, decision?.desiredReplicas]).toEqual([9, 8]);
    expect([problems, notes]).toEqual([[], []]);
  });

  test('an error has the message of validate and no decision', () => {
    const snapshot = snapshotWith({});
    const wrong = withValue(snapshot.scaler, ['spec', 'minReplicas'], 7);
    const { decision, problems } = decideWith(snapshot, wrong);
    expect(decision).toBeNull();
    expect(problems).toEqual([
      {
        severity: 'error',
        code: 'replica-bounds',
        message: 'spec.minReplicas is 7, must be at most spec.maxReplicas (6)',
        path: 'spec.minReplicas',
      },
    ]);
    expect(problems[0]?.message).toBe(parseScaler(wrong).problems[0]?.message);
  });

  test('problems that the document of the snapshot has are not new', () => {
    const snapshot = snapshotWith({ minReplicas: 7 });
    expect(decideWith(snapshot, snapshot.scaler)).toMatchObject({
      problems: [],
      decision: { desiredReplicas: 7 },
    });
  });

  test('a changed query has no value; one that only moved keeps its own', () => {
    const cpu = { resource: { name: 'cpu', target: { averageUtilization: 60 } } };
    const queue = {
      external: { metric: { name: 'queue' }, query: 'sum(queue)', target: { averageValue: '10' } },
    };
    const base = snapshotWith({ maxReplicas: 50 }, [cpu, queue]);
    const snapshot = {
      ...base,
      samples: [...base.samples, { at: '2026-01-01T09:59:50Z', values: [70] }],
    };
    const moved = withValue(snapshot.scaler, ['spec', 'metrics'], [queue, cpu]);
    expect(decideWith(snapshot, moved).decision?.metrics.map(({ proposal }) => proposal)).toEqual([7, 9]);
    const path = ['spec', 'metrics', 1, 'external', 'query'];
    const { decision, notes } = decideWith(snapshot, withValue(snapshot.scaler, path, 'sum(other)'));
    expect(decision?.metrics[1]).toMatchObject({
      proposal: null,
      error: 'this snapshot has no answer to this query',
    });
    expect(notes).toHaveLength(1);
  });

  /** 4 replicas, at a rate of 40 with 120 that wait. */
  const QUEUE = {
    metric: { name: 'jobs' },
    query: 'sum(rate(jobs[1m]))',
    target: { averageValue: 10 },
    backlog: { query: 'sum(waiting)', drainSeconds: 60 },
    capacity: { query: 'max(capacity)' },
    guard: 'up == 1',
    freshness: { query: 'max(timestamp(jobs))', maxAgeSeconds: 60 },
  };
  const queueSnapshot = (external: object): SnapshotAnswer => ({
    ...snapshotWith({ maxReplicas: 50, maxReplicasFrom: { query: 'sum(free)' } }, [{ external }]),
    samples: [{ at: '2026-01-01T09:59:50Z', values: [40], backlog: 120, capacity: 8 }],
    maxReplicasFrom: { at: '2026-01-01T09:59:50Z', values: [5] },
  });

  test.each([
    ['backlog', { query: 'sum(other)', drainSeconds: 60 }],
    ['capacity', { query: 'max(other)' }],
    ['guard', 'up == 0'],
    ['freshness', { query: 'max(other)', maxAgeSeconds: 60 }],
    ['freshness', { query: 'max(timestamp(jobs))', maxAgeSeconds: 5 }],
  ])('a changed or added %s has no answer, a removed one is not needed', (field, other) => {
    const path = ['spec', 'metrics', 0, 'external', field];
    const known = queueSnapshot(QUEUE);
    const without = queueSnapshot({ ...QUEUE, [field]: undefined });
    const proposalOf = (snapshot: SnapshotAnswer, value: unknown): unknown =>
      decideWith(snapshot, withValue(snapshot.scaler, path, value)).decision?.metrics[0]?.proposal;

    expect(proposalOf(known, other)).toBeNull();
    expect(proposalOf(without, other)).toBeNull();
    expect(proposalOf(known, undefined)).toEqual(expect.any(Number));
  });

  test('another query of saturation.served has no answer', () => {
    const cpu = { name: 'cpu', target: { averageUtilization: 60 }, saturation: { served: { query: 'a' } } };
    const snapshot = snapshotWith({ podStart: { seconds: 60 } }, [{ resource: cpu }]);
    const path = ['spec', 'metrics', 0, 'resource', 'saturation', 'served', 'query'];

    expect(
      decideWith(snapshot, withValue(snapshot.scaler, path, 'b')).decision?.metrics[0]?.proposal,
    ).toBeNull();
  });

  test('maxReplicasFrom keeps the answer to its own query; another one limits nothing and has a note', () => {
    const snapshot = queueSnapshot(QUEUE);
    const path = ['spec', 'maxReplicasFrom', 'query'];
    const more = withValue(snapshot.scaler, ['spec', 'tolerance'], 0);
    const other = decideWith(snapshot, withValue(snapshot.scaler, path, 'sum(other)'));

    expect(decideWith(snapshot, more)).toMatchObject({ decision: { desiredReplicas: 5 }, notes: [] });
    expect(other.decision?.desiredReplicas).toBe(6);
    expect(other.notes).toEqual([
      expect.stringMatching(/^maxReplicasFrom with another query limits nothing/),
    ]);
  });

  test('a longer window has a note, a shorter one has none', () => {
    const snapshot = snapshotWith({ downscaleStabilizationSeconds: 300 });
    const path = ['spec', 'downscaleStabilizationSeconds'];
    expect(decideWith(snapshot, withValue(snapshot.scaler, path, 301)).notes).toHaveLength(1);
    expect(decideWith(snapshot, withValue(snapshot.scaler, path, 299)).notes).toEqual([]);
  });

  test('a snapshot of a newer service is a problem, not an exception', () => {
    const newer = { ...snapshotWith({}), more: 1 };
    const { decision, problems } = decideWith(newer, newer.scaler);
    expect(decision).toBeNull();
    expect(problems[0]?.message).toMatch(/^the snapshot cannot be read: more is 1, must be omitted/);
  });

  test('never throws, whatever the document is', () => {
    const snapshot = snapshotWith({});
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (document) => {
        expect(decideWith(snapshot, document).decision).toBeNull();
      }),
      { numRuns: 200 },
    );
  });
});

describe('withValue', () => {
  test('sets, replaces and removes without touching the original', () => {
    const document = { spec: { a: 1, list: [{ x: 1 }] } };
    expect(withValue(document, ['spec', 'a'], 2)).toEqual({ spec: { a: 2, list: [{ x: 1 }] } });
    expect(withValue(document, ['spec', 'b', 'c'], 2)).toEqual({
      spec: { a: 1, list: [{ x: 1 }], b: { c: 2 } },
    });
    expect(withValue(document, ['spec', 'list', 0, 'x'], undefined)).toEqual({ spec: { a: 1 } });
    expect(withValue(document, ['spec', 'list', 1, 'y'], 3)).toEqual({
      spec: { a: 1, list: [{ x: 1 }, { y: 3 }] },
    });
    expect(withValue(document, ['spec', 'list', 9, 'y'], 3)).toEqual({
      spec: { a: 1, list: [{ x: 1 }, { y: 3 }] },
    });
    expect(document).toEqual({ spec: { a: 1, list: [{ x: 1 }] } });
  });

  test('the order of the keys stays', () => {
    const changed = withValue({ a: 1, b: 2, c: 3 }, ['b'], 5);
    expect(JSON.stringify(changed)).toBe('{"a":1,"b":5,"c":3}');
  });

  test('an empty object that was written stays', () => {
    expect(withValue({ spec: { behavior: {} } }, ['spec', 'a'], undefined)).toEqual({
      spec: { behavior: {} },
    });
  });

  test('a key called __proto__ is a member', () => {
    const changed = withValue({}, ['__proto__', 'x'], 1);
    expect(Object.keys(Object(changed) as object)).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });
});

describe('inputs', () => {
  test.each([
    ['', undefined],
    ['  ', undefined],
    ['5', 5],
    [' 0.5 ', 0.5],
    ['1e3', 1000],
    ['500m', '500m'],
    ['0x10', '0x10'],
    ['NaN', 'NaN'],
  ])('%p is read as %p', (text, value) => {
    expect(readInput(text)).toBe(value);
  });

  test('the text of a field', () => {
    const document = { spec: { a: 5, b: '500m', c: false, d: null } };
    expect(['a', 'b', 'c', 'd', 'e'].map((key) => textAt(document, ['spec', key]))).toEqual([
      '5',
      '500m',
      'false',
      '',
      '',
    ]);
  });

  test('one input for each written target, and a row for the next policy', () => {
    const { scaler } = snapshotWith({
      behavior: { scaleUp: { policies: [{ type: 'Pods', value: 4, periodSeconds: 15 }] } },
    });
    const paths = listFields(scaler, scaler).flatMap(({ fields }) =>
      fields.map(({ path }) => formatPath(path)),
    );
    expect(paths).toContain('spec.metrics[0].resource.target.averageUtilization');
    expect(paths).toContain('spec.behavior.scaleUp.policies[1].value');
    expect(paths).not.toContain('spec.behavior.scaleUp.policies[2].value');
    expect(new Set(paths).size).toBe(paths.length);
  });

  test('every field of spec has an input, except those that are only in the text', () => {
    /** Field, and why it has no input. */
    const textOnly = {
      'spec.scaleTargetRef': 'the snapshot has the replicas and pods of one target',
      'spec.maxReplicasFrom': 'the snapshot has no answer to another query',
      'spec.syncPeriodSeconds': 'changes the time of the next decision, not this one',
      'spec.dryRun': 'changes whether a decision is applied, not the decision',
      'spec.paused': 'changes whether a decision is applied, not the decision',
      'spec.schedules': 'is a list of objects',
      'spec.forecast.metric': 'the snapshot has the history of one metric',
      'spec.forecast.lookback': 'the snapshot has the days within the lookback',
      'spec.forecast.lead': 'the snapshot has the loads of one lead',
      'spec.forecast.timeZone': 'the snapshot has the days of one time zone',
      'spec.podDeletionCost': 'changes which pods are deleted, not how many',
    };
    /** The last name of a field of a metric, and why it has no input. */
    const textOnlyOfMetrics = {
      type: 'follows from the target that is written',
      name: 'belongs to another metric',
      container: 'belongs to another metric',
      query: 'the snapshot has no answer to another query',
      guard: 'the snapshot has no answer to another query',
      source: 'the snapshot has no answer of another data source',
      maxAgeSeconds: 'the snapshot has the answer after this check',
      maxSampleAgeSeconds: 'the snapshot has the answer after this check',
      onMissing: 'is a choice, not a number',
      onNaN: 'is a choice, not a number',
      mode: 'is a choice, not a number',
    };
    const isTextOnlyOfMetric = (path: string): boolean =>
      path.startsWith('spec.metrics[].') &&
      (/\.(selector|describedObject)\b/.test(path) ||
        Object.hasOwn(textOnlyOfMetrics, path.slice(path.lastIndexOf('.') + 1)));
    const target = { averageUtilization: 60, averageValue: 1, value: 1 };
    const flat = { targetAverageUtilization: 60, targetAverageValue: 1 };
    const total = { target, activation: { above: 1 }, backlog: { drainSeconds: 60 } };
    const { scaler } = snapshotWith({}, [
      { resource: { ...flat, target, saturation: { factor: 2 } } },
      { containerResource: { ...flat, target } },
      { pods: { target } },
      { object: total },
      { external: total },
    ]);
    const inputs = listFields(scaler, scaler).flatMap(({ fields }) =>
      fields.map(({ path }) => formatPath(path).replaceAll(/\[\d+\]/g, '[]')),
    );
    const fields = schemaRows(documentJsonSchema()).filter(
      ({ path, type }) =>
        path.startsWith('spec.') && !(path.startsWith('spec.metrics') && ['object', 'list'].includes(type)),
    );

    const isBelow = (path: string, other: string): boolean =>
      /^[.[]/.test(path.slice(other.length)) && path.startsWith(other);
    const missing = fields
      .map(({ path }) => path)
      .filter((path) => !inputs.some((input) => input === path || isBelow(input, path)))
      .filter((path) => !Object.keys(textOnly).some((field) => field === path || isBelow(path, field)))
      .filter((path) => !isTextOnlyOfMetric(path));
    expect(missing).toEqual([]);
    expect(Object.keys(textOnly).filter((field) => inputs.includes(field))).toEqual([]);
  });

  test('the inputs of targets stay while they are empty', () => {
    const { scaler } = snapshotWith({});
    const path = ['spec', 'metrics', 0, 'resource', 'target', 'averageUtilization'];
    const fields = listFields(withValue(scaler, path, undefined), scaler).flatMap((group) => group.fields);
    expect(fields.map((field) => formatPath(field.path))).toContain(formatPath(path));
  });

  test('placeholders are the defaults of the preset', () => {
    const { scaler } = snapshotWith({ preset: 'chpa' });
    const fields = listFields(scaler, scaler).flatMap((group) => group.fields);
    expect(fields.find(({ label }) => label === 'upscaleForbiddenWindowSeconds')?.placeholder).toBe('300');
  });

  test.each([
    ['spec.a', 'spec.a', true],
    ['spec.a.b', 'spec.a', true],
    ['spec.a[0]', 'spec.a', true],
    ['spec.ab', 'spec.a', false],
    ['spec', 'spec.a', false],
  ])('a problem at %s is at the field %s: %p', (problem, field, is) => {
    expect(isAtField(problem, field)).toBe(is);
  });
});
