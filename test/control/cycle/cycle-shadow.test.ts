import { describe, expect, it } from '@jest/globals';
import { SCALER_SERIES } from '../../../src/telemetry/scaler-series.js';
import { createLedger } from '../../../src/telemetry/ledger.js';
import type { CycleRecord } from '../../../src/telemetry/cycle-record.js';
import { failure } from '../fake-cluster.js';
import { Fixture, answersFrom, at, buildScaler, SECOND_SCALER } from '../fixture.js';
import type { Cluster } from '../../../src/kubernetes/api/types.js';
import type { Answer } from '../../../src/prometheus/answers/answer.js';

const HPA = {
  kind: 'HorizontalPodAutoscaler',
  namespace: 'shop',
  name: 'web-hpa',
  target: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
};

/** A dry run that wants 8, next to an HPA that wants `desiredReplicas`. */
function nextToHpa(
  desiredReplicas: number | undefined,
  spec: Readonly<Record<string, unknown>> = {},
): Fixture {
  const fixture = new Fixture({ dryRun: true, ...spec });
  fixture.load = 80;
  fixture.cluster.others.push(desiredReplicas === undefined ? HPA : { ...HPA, desiredReplicas });
  return fixture;
}

const heldOf = ({ conditions }: CycleRecord) => conditions.find(({ type }) => type === 'Held');

describe('a dry run next to an HPA', () => {
  it.each([
    [5, 3],
    [8, 0],
    [10, -2],
    [0, 8],
  ])('that wants %i differs by %i', async (desiredReplicas, difference) => {
    const { record } = await nextToHpa(desiredReplicas).cycle();

    expect(record.shadow).toEqual({
      beside: 'HorizontalPodAutoscaler shop/web-hpa',
      theirReplicas: desiredReplicas,
      difference,
    });
    expect(differencesOf(record)).toEqual([difference]);
  });

  it('is held by DryRun, names the HPA and patches nothing', async () => {
    const fixture = nextToHpa(5);

    const { record } = await fixture.cycle();

    expect(heldOf(record)).toMatchObject({
      status: 'True',
      reason: 'DryRun',
      message: 'spec.dryRun is true; HorizontalPodAutoscaler shop/web-hpa scales the target',
    });
    expect(record.outcome).toMatchObject({ kind: 'dry-run', from: 5, to: 8 });
    expect(fixture.cluster.arrived).toEqual([]);
  });

  it('names the HPA as what scales the target also if a second scaler has the target, which patches nothing', async () => {
    const { record } = await nextToHpa(5).cycle({ sharesTargetWith: SECOND_SCALER });

    expect(heldOf(record)?.message).toBe(
      'spec.dryRun is true; HorizontalPodAutoscaler shop/web-hpa scales the target; Scaler shop/web-2 has the same target, and patches nothing',
    );
    expect(record.shadow?.beside).toBe('HorizontalPodAutoscaler shop/web-hpa');
    expect(record.otherScaler).toMatchObject({
      kind: 'HorizontalPodAutoscaler',
      name: 'web-hpa',
      scaler: { namespace: 'shop', name: 'web-2' },
    });
  });

  it('is the same for a dry run of the whole service', async () => {
    const fixture = nextToHpa(5, { dryRun: false });
    fixture.dryRun = true;

    expect((await fixture.cycle()).record.shadow?.difference).toBe(3);
  });
});

describe('a policy of 1 pod in 60 s', () => {
  const policies = [{ type: 'Pods', value: 1, periodSeconds: 60 }];
  const behavior = { scaleUp: { policies, stabilizationWindowSeconds: 0 } };
  const wantedOf = ({ decision }: CycleRecord) => decision?.desiredReplicas;
  /** Runs one cycle, lets the HPA set 6 replicas, and returns what each of the next cycles wants. */
  async function wantedAfterChange(fixture: Fixture, cycles: number) {
    await fixture.cycle();
    fixture.cluster.specReplicas = 6;
    const wanted = [];
    for (let cycle = 0; cycle < cycles; cycle += 1) wanted.push(wantedOf((await fixture.nextCycle()).record));
    return wanted;
  }

  it('counts a change of the HPA in a dry run, as it would count its own', async () => {
    expect(await wantedAfterChange(nextToHpa(6, { behavior }), 5)).toEqual([6, 6, 6, 6, 7]);
  });

  it('counts no change that another client makes outside of a dry run', async () => {
    const fixture = nextToHpa(6, { behavior, dryRun: false });

    expect(await wantedAfterChange(fixture, 1)).toEqual([7]);
  });

  it('counts no change from before the dry run', async () => {
    const fixture = nextToHpa(6, { behavior, dryRun: false });
    await fixture.cycle();
    fixture.cluster.specReplicas = 6;
    fixture.scaler = buildScaler({ behavior, dryRun: true });

    expect(wantedOf((await fixture.nextCycle()).record)).toBe(7);
  });

  it('counts no difference between two objects with the same name', async () => {
    const fixture = nextToHpa(6, { behavior });
    await fixture.cycle();
    fixture.cluster.recreate('uid-2', 6);

    expect(wantedOf((await fixture.nextCycle()).record)).toBe(7);
  });
});

describe('no difference is reported', () => {
  it.each([
    ['while the HPA has no desired replicas', () => nextToHpa(undefined)],
    ['while paused', () => nextToHpa(5, { paused: true })],
    ['without a dry run', () => nextToHpa(5, { dryRun: false })],
    ['without an HPA', () => new Fixture({ dryRun: true })],
  ])('%s', async (_, build) => {
    const { record } = await build().cycle();

    expect(record.shadow).toBeUndefined();
    expect(differencesOf(record)).toEqual([]);
  });

  const without = (answer: Answer, spec: Readonly<Record<string, unknown>> = {}): Fixture => {
    const fixture = nextToHpa(5, spec);
    fixture.answers = answersFrom([answer]);
    return fixture;
  };
  const MISSING: Answer = { class: 'missing', message: 'the query returns no series' };
  const partial = (total: number): Answer => ({
    class: 'partial',
    why: 'a target was not scraped',
    series: [{ labels: {}, value: total }],
    evaluatedAt: at(0),
  });

  it.each([
    ['while a metric has no value, so that the count is held', () => without(MISSING)],
    ['while a metric has a partial value that holds the count', () => without(partial(20))],
    ['while a metric has a partial value that raises the count', () => without(partial(80))],
    [
      'while the fallback replaces a metric',
      () => without(MISSING, { fallback: { replicas: 5, afterSeconds: 0 } }),
    ],
    [
      'while the target has 0 replicas, where nothing is calculated',
      () => {
        const fixture = nextToHpa(0);
        fixture.cluster.specReplicas = 0;
        return fixture;
      },
    ],
  ])('%s', async (_, build) => {
    const { record } = await build().cycle();

    expect(heldOf(record)?.reason).toBe('DryRun');
    expect(record.shadow).toBeUndefined();
  });

  it('next to a second document in a dry run of the service, which ends for both', async () => {
    const fixture = nextToHpa(5, { dryRun: false });
    fixture.dryRun = true;

    const { record } = await fixture.cycle({ sharesTargetWith: SECOND_SCALER });

    expect(record.shadow).toBeUndefined();
    expect(heldOf(record)?.reason).toBe('ConflictingScaler');
  });
});

it('checks after a dry run, until it succeeds, that the API server would accept a PATCH, and patches nothing', async () => {
  const fixture = new Fixture({ dryRun: true });
  const tried: unknown[] = [];
  let error: Error | null = failure('forbidden', 'scaling deployment shop/web to 5: 403 Forbidden');
  const tryScale: Cluster['tryScale'] = (namespace, ref, { replicas }) => {
    tried.push([namespace, ref.name, replicas]);
    return error === null ? Promise.resolve() : Promise.reject(error);
  };
  Object.assign(fixture.cluster, { tryScale });
  const able = ({ conditions }: CycleRecord) => conditions.find(({ type }) => type === 'AbleToScale');

  await fixture.cycle();
  const before = tried.length;
  fixture.scaler = buildScaler();
  const failed = (await fixture.nextCycle()).record;
  error = null;
  const succeeded = (await fixture.nextCycle()).record;
  await fixture.nextCycle();

  expect([before, tried]).toEqual([0, Array(2).fill(['shop', 'web', 5])]);
  expect(able(failed)).toMatchObject({
    status: 'False',
    reason: 'FailedUpdateScale',
    message: 'scaling deployment shop/web to 5: 403 Forbidden',
  });
  expect(failed.outcome).toMatchObject({ kind: 'none', from: 5, to: 5 });
  expect(able(succeeded)?.status).toBe('True');
  expect(fixture.cluster.arrived).toEqual([]);
});

/** The series that `/metrics` has after this record. */
function differencesOf(record: CycleRecord): readonly number[] {
  const values: number[] = [];
  const { after } = createLedger().add(record);
  SCALER_SERIES.shadowDifference(after, (_, value) => values.push(value));
  return values;
}
