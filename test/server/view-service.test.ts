import { describe, expect, it } from '@jest/globals';
import { mergeServices, viewService, type ServiceFacts } from '../../src/server/view-service.js';
import { failed, type Failure } from '../../src/units/failure.js';
import type { ServiceStatus } from '../../src/api/answers.js';
import { serviceStatusSchema } from '../../src/api/dashboard-schemas.js';
import { SEES_ALL } from '../../src/server/access/viewer.js';
import type { Viewer } from '../../src/server/access/viewer.js';
import type { Problem } from '../../src/scaler/problems/problem.js';
import { createRecords } from '../../src/telemetry/records.js';
import { createOutages } from '../../src/telemetry/outages.js';
import { SILENT_LOG } from '../../src/units/log.js';
import { createServiceHealth } from '../../src/telemetry/service-health.js';
import { ManualClock } from '../support/manual-clock.js';
import { at } from '../support/builders.js';
import { conflictWith, decision, record, scaler, scalerIn } from '../telemetry/record-builder.js';
import { EMPTY_STATE } from '../../src/decision/snapshot/snapshot.js';
import { partsOf } from './app-parts.js';

const ONLY_SHOP: Viewer = { sees: (namespace) => namespace === 'shop', seesAll: false, scope: 'shop' };

function problem(overrides: Partial<Problem>): Problem {
  return {
    code: 'wrong-type',
    severity: 'error',
    message: 'is wrong',
    file: 'web.yaml',
    place: { line: 3, column: 5 },
    path: 'spec',
    sourceLine: 'spec: 5',
    ...overrides,
  };
}

function fixture(problems: readonly Problem[] = []) {
  const clock = new ManualClock();
  const records = createRecords(clock);
  const sources = new Map(['default', 'other'].map((name) => [name, { urls: [] }]));
  const outages = createOutages(sources, clock, SILENT_LOG);
  const health = createServiceHealth(clock, ['default', 'other'], outages);
  const { api } = partsOf(records, { api: { problems: () => problems } });
  const facts: ServiceFacts = {
    health,
    identity: 'promscaler-0',
    leader: () => null,
    urlsOf: (source) => [`http://${source}:9090`],
    periodSeconds: () => 15,
    excerptOf: ({ sourceLine }) => sourceLine,
  };
  const view = (viewer: Viewer = SEES_ALL): Promise<ServiceStatus> =>
    viewService(api, facts, { now: clock.now(), viewer, yieldIfDue: () => Promise.resolve() });
  return { clock, records, health, outages, view };
}

const UNKNOWN = { isReachable: null, failingSince: null, lastError: null, errors: 0 };

describe('the state of the service', () => {
  it('is unknown, not 0, before the first request', async () => {
    const { view } = fixture();

    expect(serviceStatusSchema.parse(await view())).toEqual({
      version: '0.1.0',
      at: '2026-01-01T00:00:00Z',
      startedAt: '2026-01-01T00:00:00Z',
      identity: 'promscaler-0',
      leader: null,
      replicas: [{ identity: 'promscaler-0', scalers: 0, isReachable: true }],
      dataSources: ['default', 'other'].map((name) => ({
        ...UNKNOWN,
        name,
        urls: [`http://${name}:9090`],
        queries: 0,
        latencySeconds: null,
        holdUntil: null,
        dependents: 0,
      })),
      kubernetes: { ...UNKNOWN, requests: 0 },
      rounds: { periodSeconds: 15, last: null, missed: 0 },
      problems: [],
      conflicts: [],
      lastOutcomes: [],
    });
  });

  it('names the source that has answered nothing, since its first failure, until it answers', async () => {
    const { clock, outages, view } = fixture();
    const query = (failure: Failure | null): void =>
      outages.observeQuery({ source: 'other', seconds: 0.001, failure });
    const since = async (): Promise<readonly unknown[]> =>
      (await view()).dataSources.map(({ failingSince }) => failingSince);
    clock.advance(60_000);
    query(failed('connection', 'connect ECONNREFUSED'));
    clock.advance(1999);
    expect(await since()).toEqual([null, null]);

    clock.advance(1);
    expect(await since()).toEqual([null, '2026-01-01T00:01:00Z']);
    expect((await view()).kubernetes.failingSince).toBeNull();
    query(null);

    expect(await since()).toEqual([null, null]);
  });

  it('has the hold of the sources that a scaler queries, until it ends', async () => {
    const { clock, records, view } = fixture();
    const until = at(600);
    records.ledger.add(
      record({ decision: decision({ state: { ...EMPTY_STATE, holdScaleDownUntil: until } }) }),
    );

    const holds = async (): Promise<readonly unknown[]> =>
      (await view()).dataSources.map(({ holdUntil }) => holdUntil);

    clock.advance(599_999);
    expect(await holds()).toEqual(['2026-01-01T00:10:00Z', null]);
    clock.advance(1);
    expect(await holds()).toEqual([null, null]);
  });

  it('counts the scalers of a source that keep their replicas without it: not with a fallback or another source', async () => {
    const { records, view } = fixture();
    const add = (name: string, spec: Partial<ReturnType<typeof scaler>['spec']> = {}): void => {
      const one = scaler(name);
      records.ledger.add(record({ scaler: { ...one, spec: { ...one.spec, ...spec } } }));
    };
    const { metrics } = scaler('x').spec;
    const others = metrics.map((metric) => ({ ...metric, source: 'other' }));
    add('plain');
    add('fallback', { fallback: { replicas: 5 } as never });
    add('elsewhere', { metrics: others });
    add('both', { metrics: [...metrics, ...others] });

    const { dataSources } = await view();

    expect(dataSources.map(({ dependents }) => dependents)).toEqual([1, 1]);
  });

  it('lists the last 20 changes of all scalers, newest first', async () => {
    const { records, view } = fixture();
    for (let index = 0; index < 60; index += 1)
      records.ledger.add(
        record({
          scaler: scaler(`s-${index % 3}`),
          at: at(index),
          outcome: { kind: 'patched', from: index, to: index + 1, message: '' },
        }),
      );
    records.ledger.add(record({ scaler: scaler('s-0'), at: at(100) }));

    const found = (await view()).lastOutcomes;

    expect(found.map(({ outcome }) => outcome.from)).toEqual(
      Array.from({ length: 20 }, (_, index) => 59 - index),
    );
    expect(found[0]).toMatchObject({ namespace: 'shop', name: 's-2', at: '2026-01-01T00:00:59Z' });
  });

  it('lists errors of documents before warnings, with the line and its excerpt', async () => {
    const { view } = fixture([problem({ severity: 'warning', message: 'first' }), problem({ place: null })]);

    expect((await view()).problems).toEqual([
      {
        severity: 'error',
        code: 'wrong-type',
        message: 'is wrong',
        file: 'web.yaml',
        line: null,
        excerpt: 'spec: 5',
      },
      {
        severity: 'warning',
        code: 'wrong-type',
        message: 'first',
        file: 'web.yaml',
        line: 3,
        excerpt: 'spec: 5',
      },
    ]);
  });

  it('shows a viewer of one namespace nothing of the others', async () => {
    const { records, health, view } = fixture([
      problem({}),
      problem({ file: 'scalers.promscaler.dev/shop/web' }),
      problem({ file: 'scalers.promscaler.dev/secret/web' }),
    ]);
    const outcome = { kind: 'patched', from: 1, to: 2, message: '' } as const;
    const writer = conflictWith([], 'kubectl');
    for (const namespace of ['shop', 'secret'])
      records.ledger.add(record({ scaler: scalerIn(namespace), outcome, conflictingWriter: writer }));
    const query = { source: 'default', seconds: 1, failure: failed('bad_query', 'secret_metric{') };
    health.observeQuery(query);
    health.observeKubernetesRequest({ verb: 'list', resource: 'pods', code: '403' });
    health.startRound({ at: at(0), latenessSeconds: 0, missed: 0 });
    for (let cycle = 0; cycle < 2; cycle += 1) health.endCycle(at(0));

    const all = JSON.stringify(await view());
    const shop = await view(ONLY_SHOP);

    expect(all.match(/secret/g)?.length).toBeGreaterThan(3);
    expect(JSON.stringify(shop)).not.toContain('secret');
    expect([shop.problems.length, shop.conflicts.length, shop.lastOutcomes.length]).toEqual([1, 1, 1]);
    expect(shop.dataSources[0]?.lastError?.message).toBe('bad_query');
    expect([shop.replicas[0]?.scalers, shop.rounds.last?.scalers]).toEqual([1, null]);
    expect(JSON.parse(all)).toMatchObject({ replicas: [{ scalers: 2 }], rounds: { last: { scalers: 2 } } });
  });

  it('adds the scalers, conflicts and changes of other replicas, and names the one that does not answer', async () => {
    const { view, records } = fixture();
    records.ledger.add(record());
    const change = (name: string, time: string): ServiceStatus['lastOutcomes'][number] => ({
      namespace: 'shop',
      name,
      at: time,
      outcome: { kind: 'patched', from: 1, to: 2, message: '' },
    });
    const own = { ...(await view()), lastOutcomes: [change('a', '2026-01-01T00:00:10Z')] };
    const other = {
      replicas: [{ identity: 'promscaler-1', scalers: 7, isReachable: true }],
      conflicts: [{ namespace: 'shop', name: 'b', message: 'kubectl' }],
      lastOutcomes: [change('b', '2026-01-01T00:00:20Z'), change('c', '2026-01-01T00:00:05.500Z')],
      dataSources: own.dataSources.map((source) => ({ ...source, dependents: 7 })),
      rounds: own.rounds,
    };

    const merged = mergeServices(
      own,
      new Map([
        ['promscaler-1', other],
        ['promscaler-2', null],
      ]),
      { isLeading: true },
    );

    expect(merged.replicas).toEqual([
      { identity: 'promscaler-0', scalers: 1, isReachable: true },
      { identity: 'promscaler-1', scalers: 7, isReachable: true },
      { identity: 'promscaler-2', scalers: null, isReachable: false },
    ]);
    expect(merged.conflicts.map(({ name }) => name)).toEqual(['b']);
    expect(merged.lastOutcomes.map(({ name }) => name)).toEqual(['b', 'a', 'c']);
    expect(merged.dataSources.map(({ dependents }) => dependents)).toEqual(
      own.dataSources.map(({ dependents = 0 }) => dependents + 7),
    );
    expect(merged.dataSources.length).toBeGreaterThan(0);
  });
});
