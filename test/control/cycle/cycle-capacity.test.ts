import { expect, it } from '@jest/globals';
import { driftEvents } from '../../../src/control/cycle/report.js';
import type { CapacityReading } from '../../../src/prometheus/queries/capacity-watch.js';
import { SCALER_SERIES, type ScalerMetricKey } from '../../../src/telemetry/scaler-series.js';
import type { CycleRecord } from '../../../src/telemetry/cycle-record.js';
import type { ScalerStatus } from '../../../src/telemetry/ledger.js';
import { decide } from '../../../src/decision/decide.js';
import { explainMetric } from '../../../src/decision/explain-metric.js';
import { proposeAll } from '../../../src/decision/proposals/propose.js';
import { decisionToJson, snapshotToJson } from '../../../src/decision/result/write-json.js';
import type { MeasuredCapacity } from '../../../src/decision/snapshot/snapshot.js';
import { parseSnapshot } from '../../../src/decision/snapshot/parse-snapshot.js';
import { answerOf, answersFrom, World } from '../world.js';

/** A world with 5 replicas of a load of 50, at a target of 10. */
function worldWith(mode: string, served = 'sum(served)'): World {
  const auto = { mode, served: { query: served } };
  const external = {
    metric: { name: 'load' },
    query: 'sum(load)',
    target: { averageValue: 10 },
    capacity: { auto },
  };
  return new World({ metrics: [{ external }], scaleUpLimitFactor: 10 });
}

async function recordWith(world: World, reading: Omit<CapacityReading, 'at'> | null): Promise<CycleRecord> {
  const at = world.clock.now();
  const capacityOf = (): CapacityReading | null => (reading === null ? null : { ...reading, at });
  const answers = { ...answersFrom([answerOf(world.load, at)]), capacityOf };
  const { record } = await world.nextCycle({ answers });
  return record;
}

function capacityIn({ snapshot }: CycleRecord): MeasuredCapacity | undefined {
  const [sample] = snapshot?.samples ?? [];
  return sample?.form === 'values' ? sample.measuredCapacity : undefined;
}

const GOOD = { days: [5, 5, 4.9], recent: 4, limit: null };
const LOWER = { days: [5, 5, 4.9], recent: 2, limit: 4 };

it('observes a capacity of 5 and keeps to the target of 10; used, it asks for 10 replicas', async () => {
  expect((await recordWith(worldWith('Observe'), GOOD)).decision?.desiredReplicas).toBe(5);
  expect((await recordWith(worldWith('Use'), GOOD)).decision?.desiredReplicas).toBe(10);
});

it('without a reading raises by the target and lowers nothing, if it is used', async () => {
  const world = worldWith('Use');
  world.load = 10;
  expect((await recordWith(world, null)).decision?.desiredReplicas).toBe(5);
  world.load = 70;
  expect((await recordWith(world, null)).decision?.desiredReplicas).toBe(7);
});

it.each([
  ['a capacity', GOOD],
  ['a drift', LOWER],
])('with %s, the recorded snapshot gives a decision with the same text', async (_, reading) => {
  const { snapshot, decision } = await recordWith(worldWith('Use'), reading);
  if (snapshot === null || decision === null) throw new Error('there is no decision');
  const written = JSON.stringify(snapshotToJson(snapshot));

  const again = decide(parseSnapshot(JSON.parse(written)));

  expect(JSON.stringify(decisionToJson(again))).toBe(JSON.stringify(decisionToJson(decision)));
});

it('a drift is one Event, a metric, and a part of the explanation', async () => {
  const world = worldWith('Observe');
  const before = await recordWith(world, GOOD);
  const first = await recordWith(world, LOWER);
  const second = await recordWith(world, LOWER);

  expect(driftEvents(null, before)).toEqual([]);
  expect(driftEvents(before, first)).toEqual([
    {
      type: 'Warning',
      reason: 'CapacityChanged',
      message: expect.stringMatching(/^a pod carries 4 of load: it was 5 before \S+Z \(now 80 %\)$/),
    },
  ]);
  expect(driftEvents(first, second)).toEqual([]);
  const written = (key: ScalerMetricKey): readonly number[] => {
    const values: number[] = [];
    const status = { scaler: world.scaler, record: second } as unknown as ScalerStatus;
    SCALER_SERIES[key](status, (_, value) => values.push(value));
    return values;
  };
  expect([written('metricCapacity'), written('metricCapacityDrift')]).toEqual([[4], [0.8]]);
  const { snapshot } = second;
  const [metric] = snapshot === null ? [] : proposeAll(snapshot);
  if (snapshot === null || metric === undefined) throw new Error('there is no snapshot');
  expect(explainMetric(metric, snapshot).answer).toMatch(
    /a pod carries 4 \(4\.9 to 5 on 3 days, observed only\): it was 5 before /,
  );
});

it('survives a restart, and a change of the leader, before the next reading: the count of 10 stays, as does the drift', async () => {
  const world = worldWith('Use');
  world.restart();
  await recordWith(world, GOOD);
  expect(world.cluster.specReplicas).toBe(10);
  const [, drift] = [await recordWith(world, GOOD), await recordWith(world, LOWER)];
  expect(world.cluster.specReplicas).toBe(13);
  await world.clock.advanceAndSettle(5000);

  world.restart();
  const after = await recordWith(world, null);

  expect(after.decision?.desiredReplicas).toBe(13);
  expect(after.snapshot?.samples).toMatchObject([{ measuredCapacity: capacityIn(drift) }]);
  expect(after.snapshot?.samples[0]).toMatchObject({ partial: null });
  world.load = 40;
  expect((await recordWith(world, null)).decision?.desiredReplicas).toBe(10);
});

it('is the value before, or none, if the process dies before the write, and then only raises', async () => {
  const world = worldWith('Use');
  world.restart();
  await recordWith(world, GOOD);
  expect(world.cluster.specReplicas).toBe(10);

  world.restart();

  expect((await recordWith(world, null)).decision?.desiredReplicas).toBe(10);
});

it('is forgotten a day after its reading, or if its queries are edited', async () => {
  const world = worldWith('Use');
  world.restart();
  await recordWith(world, GOOD);
  await world.clock.advanceAndSettle(86_000_000);
  expect(capacityIn(await recordWith(world, null))).toMatchObject({ value: 5 });
  await world.clock.advanceAndSettle(400_000);
  expect(capacityIn(await recordWith(world, null))).toBeUndefined();

  await recordWith(world, GOOD);
  world.scaler = worldWith('Use', 'sum(served_total)').scaler;
  expect(capacityIn(await recordWith(world, null))).toBeUndefined();
});

it('is written when it changes by 1 % and every 6 hours, not with each reading', async () => {
  const world = worldWith('Observe');
  world.restart();
  const hourly = async (days: readonly number[]): Promise<void> => {
    await recordWith(world, { ...GOOD, days });
    await world.clock.advanceAndSettle(3_600_000 - 15_000);
  };
  for (let hour = 0; hour < 11; hour += 1) await hourly([5 + 0.001 * hour, 5, 4.9]);
  expect(world.maps.count('PATCH')).toBe(2);
  await hourly([5.1, 5, 4.9]);

  expect(world.maps.count('PATCH')).toBe(3);
});
