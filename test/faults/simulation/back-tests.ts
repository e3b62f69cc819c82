import type { RangeClient } from '../../../src/prometheus/client/range-client.js';
import type { BackTestResult } from '../../../src/recommendations/back-test.js';
import type { ServiceOptions } from '../../../src/service/service.js';
import { onAbort } from '../../../src/units/abort.js';
import { sleep } from '../../../src/units/clock.js';
import type { BackTestRecord } from './log.js';
import type { SimulatedProcess } from './process.js';
import type { Random } from './random.js';
import type { Simulation } from './simulation.js';

const MINUTE_MS = 60_000;
const QUERIES = 20;
/** The real one is stopped after two hours, which would be most of a simulation. */
const LONGEST_MS = 30 * MINUTE_MS;
const WAYS = ['proposes', 'proposes', 'proposes', 'finds nothing', 'fails', 'never ends', 'stops late'];

/** Creates a client that fails, or answers with nothing, after up to 12 s. */
export function createHistoryClient(process: SimulatedProcess, random: Random): RangeClient {
  return {
    queryRange: async (_, { timeoutMs, signal }) => {
      const ms = random.between(5, 12_000);
      await sleep(process.clock, Math.min(ms, timeoutMs), signal);
      if (ms < timeoutMs && random.chance(0.7)) return { class: 'matrix', series: [] };
      return { class: 'failed', reason: 'timeout', message: 'timeout after 10 s' };
    },
  };
}

/**
 * Creates the back-test of a process: it reads histories, takes up to half an hour, and then proposes other bounds, finds
 * nothing, or fails. A part of them stops a minute after it should.
 */
export function createBackTest(
  process: SimulatedProcess,
  { random: ofSimulation, timeline, log }: Pick<Simulation, 'random' | 'timeline' | 'log'>,
): NonNullable<ServiceOptions['backTest']> {
  const random = ofSimulation.fork(`${process.name} back-tests`);
  return async (scaler, { start, end, stepSeconds }, { sources, queryRange, signal }) => {
    const record: BackTestRecord = {
      kind: 'back-test',
      process: process.name,
      scaler: `${scaler.namespace}/${scaler.name}`,
      atMs: timeline.nowMs,
      endedMs: null,
    };
    log(record);
    onAbort(signal, () => (record.endedMs ??= timeline.nowMs));
    const way = random.pick(WAYS);
    for (let count = 0; count < QUERIES && !signal.aborted; count += 1)
      for (const { name } of sources)
        await queryRange(name, { query: `history_${count}`, start, end, stepSeconds }, signal);
    const isEndless = way === 'never ends' || way === 'stops late';
    await sleep(process.clock, isEndless ? LONGEST_MS : random.between(0, 20) * MINUTE_MS, signal);
    if (way === 'stops late' && signal.aborted) await sleep(process.clock, MINUTE_MS);
    record.endedMs ??= timeline.nowMs;
    return signal.aborted ? null : resultOf(way, random, { from: start, to: end });
  };
}

function resultOf(
  way: string,
  random: Random,
  span: Pick<Extract<BackTestResult, { readonly suggestion: unknown }>['suggestion'], 'from' | 'to'>,
): BackTestResult {
  if (way === 'fails') return { why: 'the back-test failed: the worker thread exited' };
  if (way !== 'proposes') return { why: 'nothing better was found' };
  const [least, most] = [random.integer(6, 12), random.integer(50, 90)];
  return {
    suggestion: {
      ...span,
      reason: 'it saves 12 %',
      changes: [
        { field: 'spec.minReplicas', current: '2', proposed: String(least) },
        { field: 'spec.maxReplicas', current: '40', proposed: String(most) },
      ],
      patch: JSON.stringify({ spec: { minReplicas: least, maxReplicas: most } }),
      saving: { percent: 12, lowest: 9, highest: 14 },
      thetaU: { current: 1, proposed: 1 },
    },
  };
}
