import { parentPort } from 'node:worker_threads';
import { createLoad, type Load, type LoadData } from '../../backtest/simulation/load.js';
import type { RunInput } from '../../backtest/simulation/run-variant.js';
import type { Scaler } from '../../scaler/spec.js';
import { mapLoads, runTracedJob } from './run-job.js';

export interface JobRequest {
  readonly scaler: Scaler;
  readonly input: RunInput<number>;
  /** The loads that the worker does not have yet, by the numbers with which `input` refers to them. */
  readonly loads: ReadonlyMap<number, LoadData>;
  readonly traceCharacters: number | null;
}

const known = new Map<number, Load>();

parentPort?.on('message', ({ scaler, input, loads, traceCharacters }: JobRequest) => {
  for (const [number, { times, values, end, isInterpolated }] of loads)
    known.set(number, createLoad(times, values, end, isInterpolated));
  const loadOf = (number: number): Load => {
    const load = known.get(number);
    if (load === undefined) throw new Error(`load ${number} is missing`);
    return load;
  };
  parentPort?.postMessage(runTracedJob({ scaler, input: mapLoads(input, loadOf) }, traceCharacters));
});
