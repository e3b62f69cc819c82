import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import { createApp } from '../../../src/server/app.js';
import { overviewSchema } from '../../../src/api/dashboard-schemas.js';
import { startServer } from '../../../src/server/server.js';
import type { RunningServer } from '../../../src/server/server.js';
import type { CycleRecord } from '../../../src/telemetry/cycle-record.js';
import { createRecords } from '../../../src/telemetry/records.js';
import type { Records } from '../../../src/telemetry/records.js';
import { invalidScalers, rejectionsOf } from '../../../src/telemetry/rejections.js';
import type { Problem } from '../../../src/scaler/problems/problem.js';
import type { Scaler } from '../../../src/scaler/spec.js';
import { ManualClock } from '../../support/manual-clock.js';
import { at } from '../../support/builders.js';
import {
  condition,
  decision,
  limitStep,
  metricResult,
  record,
  scaler,
  scalerIn,
} from '../../telemetry/record-builder.js';
import { partsOf } from '../app-parts.js';

let records: Records;
let server: RunningServer;

beforeEach(async () => {
  records = createRecords(new ManualClock());
  const app = createApp(partsOf(records));
  server = await startServer({ app, port: 0, host: '127.0.0.1', clock: SYSTEM_CLOCK });
});

afterEach(() => server.close());

function add(one: CycleRecord): void {
  records.ledger.add(one);
  records.chartPoints.add(one);
}

const REJECTED: Problem = {
  severity: 'error',
  code: 'field.missing',
  message: 'spec.maxReplicas is required',
  path: 'spec.maxReplicas',
  file: 'config/b.yaml',
  place: null,
  sourceLine: null,
  scaler: 'shop/b',
};

/** Serves documents, none of which has a valid version. */
async function serveProblems(problems: () => readonly Problem[]): Promise<void> {
  await server.close();
  const invalid = () => invalidScalers(rejectionsOf(problems()), new Set());
  const app = createApp(partsOf(records, { api: { problems, invalid } }));
  server = await startServer({ app, port: 0, host: '127.0.0.1', clock: SYSTEM_CLOCK });
}

type Overview = ReturnType<typeof overviewSchema.parse>;

async function overview(query = ''): Promise<Overview> {
  const response = await fetch(`${server.url}/api/v1/overview${query}`);
  return overviewSchema.parse(await response.json());
}

const names = ({ rows }: Overview): readonly string[] => rows.map(({ name }) => name);

describe('/api/v1/overview', () => {
  it('returns a row per scaler, by namespace and name, with all fields', async () => {
    add(record({ scaler: scaler('b') }));
    add(
      record({
        scaler: scaler('a'),
        at: at(900),
        decision: decision({
          desiredReplicas: 5,
          recommendedReplicas: 8,
          metrics: [metricResult({ proposal: 8 })],
          limits: [limitStep({ limit: 'policy', from: 8, to: 5, until: at(960), reason: 'at most 2 pods' })],
          conditions: [condition({ type: 'ScalingActive', reason: 'ValidMetricFound' })],
        }),
        outcome: { kind: 'patched', from: 3, to: 5, message: '' },
      }),
    );

    const found = await overview();

    expect(names(found)).toEqual(['a', 'b']);
    expect(found).toMatchObject({ isComplete: true, leader: true, removed: [], problems: 0 });
    expect(found.rows[0]).toEqual({
      namespace: 'shop',
      name: 'a',
      kind: 'Deployment',
      target: 'a',
      current: 3,
      desired: 5,
      min: 1,
      max: 10,
      state: {
        name: 'RateLimited',
        severity: 'waiting',
        cause: '8 recommended, at most 2 pods',
        since: '2026-01-01T00:15:00Z',
        until: '2026-01-01T00:16:00Z',
      },
      metric: { name: 'cpu', unit: 'percent', value: 55, target: 60 },
      metrics: 1,
      changedAt: '2026-01-01T00:15:00Z',
      replicas: [...new Array<null>(23).fill(null), 3],
    });
  });

  it('has the value of the label by which the dashboard groups, if there is one', async () => {
    await server.close();
    const grouping = { label: 'team', of: ({ name }: Scaler) => (name === 'a' ? 'checkout' : null) };
    const app = createApp(partsOf(records, { api: { grouping } }));
    server = await startServer({ app, port: 0, host: '127.0.0.1', clock: SYSTEM_CLOCK });
    for (const name of ['a', 'b']) add(record({ scaler: scaler(name) }));

    const { groupLabel, rows } = await overview();

    expect([groupLabel, rows.map(({ group }) => group)]).toEqual(['team', ['checkout', undefined]]);
  });

  it('shows unknown values as null while the target cannot be read, and the bounds of the document', async () => {
    add(record({ snapshot: null, decision: null }));

    const [row] = (await overview()).rows;

    expect(row).toMatchObject({ current: null, desired: null, min: 1, max: 10, metric: null });
  });

  it('has a row for a document without a valid version, until it has one', async () => {
    let problems: readonly Problem[] = [REJECTED];
    await serveProblems(() => problems);
    records.ledger.setRejections(rejectionsOf(problems), at(60));
    for (const name of ['a', 'c']) add(record({ scaler: scaler(name) }));

    const first = await overview();

    expect(names(first)).toEqual(['a', 'b', 'c']);
    expect(first.rows[1]).toMatchObject({
      kind: null,
      target: null,
      current: null,
      state: {
        name: 'Invalid',
        severity: 'cannot-follow',
        cause: 'spec.maxReplicas is required',
        since: '2026-01-01T00:01:00Z',
      },
      rejections: [{ code: 'field.missing', file: 'config/b.yaml', line: null }],
    });
    expect((await overview(`?since=${first.revision}`)).rows).toEqual([]);

    problems = [];
    records.ledger.setRejections(new Map(), at(75));
    add(record({ scaler: scaler('b'), at: at(75) }));
    const next = await overview(`?since=${first.revision}`);

    expect([names(next), next.removed, next.rows[0]?.state.name]).toEqual([['b'], [], 'Pending']);
  });

  it('removes the row of an invalid document that was deleted', async () => {
    let problems: readonly Problem[] = [REJECTED];
    await serveProblems(() => problems);
    const { revision } = await overview();

    problems = [];

    expect((await overview(`?since=${revision}`)).removed).toEqual(['shop/b']);
  });

  it('returns only what changed since a revision', async () => {
    for (const name of ['a', 'b', 'c']) add(record({ scaler: scaler(name) }));
    const first = await overview();
    add(record({ scaler: scaler('a'), at: at(15) }));
    add(record({ scaler: scaler('b'), at: at(15), decision: decision({ desiredReplicas: 9 }) }));
    records.ledger.remove('shop/c');

    const second = await overview(`?since=${first.revision}`);
    const third = await overview(`?since=${second.revision}`);

    expect([names(second), second.removed, second.isComplete]).toEqual([['b'], ['shop/c'], false]);
    expect([names(third), third.removed, third.isComplete, third.revision]).toEqual([
      [],
      [],
      false,
      second.revision,
    ]);
  });

  it('returns a scaler that was removed and added again as a row', async () => {
    add(record());
    const { revision } = await overview();
    records.ledger.remove('shop/web');
    await overview();
    add(record({ at: at(15) }));

    const { rows, removed } = await overview(`?since=${revision}`);

    expect([rows.length, removed]).toEqual([1, []]);
  });

  it('forgets the oldest of more than 1,000 removals, and then returns all rows', async () => {
    add(record({ scaler: scaler('first') }));
    const first = await overview();
    for (let index = 0; index < 1000; index += 1) add(record({ scaler: scaler(`s-${index}`) }));
    records.ledger.remove('shop/first');
    const second = await overview();
    for (let index = 0; index < 999; index += 1) records.ledger.remove(`shop/s-${index}`);

    const whole = await overview(`?since=${first.revision}`);
    records.ledger.remove('shop/s-999');
    const after = await overview(`?since=${first.revision}`);
    const later = await overview(`?since=${second.revision}`);

    expect([whole.isComplete, whole.removed.length]).toEqual([false, 1000]);
    expect(after.isComplete).toBe(true);
    expect([later.isComplete, later.removed.length]).toEqual([false, 1000]);
  });

  it.each(['x', 'other.1.all', '', '9'.repeat(500), '%00', 'run.99999999999999999999.all'])(
    'returns all rows for the unknown revision %j',
    async (since) => {
      add(record());

      expect(await overview(`?since=${since}`)).toMatchObject({ isComplete: true, rows: [{ name: 'web' }] });
    },
  );

  it('returns one namespace; a revision of another filter counts as unknown', async () => {
    add(record());
    add(record({ scaler: scalerIn('other') }));
    const all = await overview();

    const one = await overview(`?namespace=other&since=${all.revision}`);
    const same = await overview(`?namespace=other&since=${one.revision}`);

    expect([one.rows.map(({ namespace }) => namespace), one.isComplete]).toEqual([['other'], true]);
    expect([same.rows, same.isComplete]).toEqual([[], false]);
  });

  it('rejects a repeated parameter with 400', async () => {
    expect((await fetch(`${server.url}/api/v1/overview?since=a&since=b`)).status).toBe(400);
  });

  it('compresses answers from 1 KiB on', async () => {
    add(record());
    const small = await fetch(`${server.url}/api/v1/overview`);
    for (let index = 0; index < 5; index += 1) add(record({ scaler: scaler(`s-${index}`) }));
    const large = await fetch(`${server.url}/api/v1/overview`);
    const plain = await fetch(`${server.url}/api/v1/overview`, {
      headers: { 'Accept-Encoding': 'identity' },
    });

    expect([small, large, plain].map(({ headers }) => headers.get('content-encoding'))).toEqual([
      null,
      'gzip',
      null,
    ]);
    expect(await large.json()).toEqual(await plain.json());
  });

  it('answers 12 requests at once', async () => {
    for (let index = 0; index < 300; index += 1) add(record({ scaler: scaler(`s-${index}`) }));

    const all = await Promise.all(Array.from({ length: 12 }, () => overview()));

    expect(all.map(({ rows }) => rows.length)).toEqual(new Array(12).fill(300));
  });
});
