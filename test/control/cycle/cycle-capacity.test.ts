import { expect, it } from '@jest/globals';
import { driftEvents } from '../../../src/control/cycle/kubernetes-events.js';
import type { CapacityReading } from '../../../src/prometheus/queries/capacity-watch.js';
import { SCALER_SERIES, type ScalerMetricKey } from '../../../src/telemetry/scaler-series.js';
import type { CycleRecord } from '../../../src/telemetry/cycle-record.js';
import type { LedgerEntry } from '../../../src/telemetry/ledger.js';
import { decide } from '../../../src/decision/decide.js';
import { explainMetric } from '../../../src/decision/explain-metric.js';
import { proposeAll } from '../../../src/decision/proposals/propose.js';
import { decisionToJson, snapshotToJson } from '../../../src/decision/result/write-json.js';
import type { MeasuredCapacity } from '../../../src/decision/snapshot/snapshot.js';
import { parseSnapshot } from '../../../src/decision/snapshot/parse-snapshot.js';
import { answerOf, answersFrom, Fixture } from '../fixture.js';

/** A fixture with 5 replicas of a load of 50, at a target of 10. */
function fixtureWith(mode: string, served = 'sum(served)'): Fixture {
  const auto = { mode, served: { query: served } };
  const external = {
    metric: { name: 'load' },
    query: 'sum(load)',
    target: { averageValue: 10 },
    capacity: { auto },
  };
  return new Fixture({ metrics: [{ external }], scaleUpLimitFactor: 10 });
}

async function recordWith(
  fixture: Fixture,
  reading: Omit<CapacityReading, 'at'> | null,
): Promise<CycleRecord> {
  const at = fixture.clock.now();
  const capacityOf = (): CapacityReading | null => (reading === null ? null : { ...reading, at });
  const answers = { ...answersFrom([answerOf(fixture.load, at)]), capacityOf };
  const { record } = await fixture.nextCycle({ answers });
  return record;
}

function capacityIn({ snapshot }: CycleRecord): MeasuredCapacity | undefined {
  const [sample] = snapshot?.samples ?? [];
  return sample?.form === 'values' ? sample.measuredCapacity : undefined;
}

const GOOD = { days: [5, 5, 4.9], recent: 4, limit: null };
const LOWER = { days: [5, 5, 4.9], recent: 2, limit: 4 };

it('observes a capacity of 5 and keeps to the target of 10; used, it asks for 10 replicas', async () => {
  expect((await recordWith(fixtureWith('Observe'), GOOD)).decision?.desiredReplicas).toBe(5);
  expect((await recordWith(fixtureWith('Use'), GOOD)).decision?.desiredReplicas).toBe(10);
});

it('without a reading raises by the target and lowers nothing, if it is used', async () => {
  const fixture = fixtureWith('Use');
  fixture.load = 10;
  expect((await recordWith(fixture, null)).decision?.desiredReplicas).toBe(5);
  fixture.load = 70;
  expect((await recordWith(fixture, null)).decision?.desiredReplicas).toBe(7);
});

it.each([
  ['a capacity', GOOD],
  ['a drift', LOWER],
])('with %s, the recorded snapshot gives a decision with the same text', async (_, reading) => {
  const { snapshot, decision } = await recordWith(fixtureWith('Use'), reading);
  if (snapshot === null || decision === null) throw new Error('there is no decision');
  const written = JSON.stringify(snapshotToJson(snapshot));

  const again = decide(parseSnapshot(JSON.parse(written)));

  expect(JSON.stringify(decisionToJson(again))).toBe(JSON.stringify(decisionToJson(decision)));
});

it('a drift is one Event, a metric, and a part of the explanation', async () => {
  const fixture = fixtureWith('Observe');
  const before = await recordWith(fixture, GOOD);
  const first = await recordWith(fixture, LOWER);
  const second = await recordWith(fixture, LOWER);

  expect(driftEvents(null, before)).toEqual([]);
  expect(driftEvents(before, first)).toEqual([
    {
      type: 'Warning',
      reason: 'CapacityChanged',
      message: expect.stringMatching(
        /^the measured capacity of a pod for metric load is 4: 80 % of 5, the capacity before \S+Z$/,
      ),
    },
  ]);
  expect(driftEvents(first, second)).toEqual([]);
  const written = (key: ScalerMetricKey): readonly number[] => {
    const values: number[] = [];
    const status = { scaler: fixture.scaler, record: second } as unknown as LedgerEntry;
    SCALER_SERIES[key](status, (_, value) => values.push(value));
    return values;
  };
  expect([written('metricCapacity'), written('metricCapacityDrift')]).toEqual([[4], [0.8]]);
  const { snapshot } = second;
  const [metric] = snapshot === null ? [] : proposeAll(snapshot);
  if (snapshot === null || metric === undefined) throw new Error('there is no snapshot');
  expect(explainMetric(metric, snapshot).answer).toMatch(
    /a pod carries 4 \(4\.9 to 5 on 3 days, observed only\), 80 % of 5, the capacity before /,
  );
});

it('survives a restart, and a change of the leader, before the next reading: the count of 10 stays, as does the drift', async () => {
  const fixture = fixtureWith('Use');
  fixture.restart();
  await recordWith(fixture, GOOD);
  expect(fixture.cluster.specReplicas).toBe(10);
  const [, drift] = [await recordWith(fixture, GOOD), await recordWith(fixture, LOWER)];
  expect(fixture.cluster.specReplicas).toBe(13);
  await fixture.clock.advanceAndSettle(5000);

  fixture.restart();
  const after = await recordWith(fixture, null);

  expect(after.decision?.desiredReplicas).toBe(13);
  expect(after.snapshot?.samples).toMatchObject([{ measuredCapacity: capacityIn(drift) }]);
  expect(after.snapshot?.samples[0]).toMatchObject({ partial: null });
  fixture.load = 40;
  expect((await recordWith(fixture, null)).decision?.desiredReplicas).toBe(10);
});

it('is the value before, or none, if the process dies before the write, and then only raises', async () => {
  const fixture = fixtureWith('Use');
  fixture.restart();
  await recordWith(fixture, GOOD);
  expect(fixture.cluster.specReplicas).toBe(10);

  fixture.restart();

  expect((await recordWith(fixture, null)).decision?.desiredReplicas).toBe(10);
});

it('is forgotten a day after its reading, or if its queries are edited', async () => {
  const fixture = fixtureWith('Use');
  fixture.restart();
  await recordWith(fixture, GOOD);
  await fixture.clock.advanceAndSettle(86_000_000);
  expect(capacityIn(await recordWith(fixture, null))).toMatchObject({ value: 5 });
  await fixture.clock.advanceAndSettle(400_000);
  expect(capacityIn(await recordWith(fixture, null))).toBeUndefined();

  await recordWith(fixture, GOOD);
  fixture.scaler = fixtureWith('Use', 'sum(served_total)').scaler;
  expect(capacityIn(await recordWith(fixture, null))).toBeUndefined();
});

it('is written when it changes by 1 % and every 6 hours, not with each reading', async () => {
  const fixture = fixtureWith('Observe');
  fixture.restart();
  const hourly = async (days: readonly number[]): Promise<void> => {
    await recordWith(fixture, { ...GOOD, days });
    await fixture.clock.advanceAndSettle(3_600_000 - 15_000);
  };
  for (let hour = 0; hour < 11; hour += 1) await hourly([5 + 0.001 * hour, 5, 4.9]);
  expect(fixture.maps.count('PATCH')).toBe(2);
  await hourly([5.1, 5, 4.9]);

  expect(fixture.maps.count('PATCH')).toBe(3);
});
