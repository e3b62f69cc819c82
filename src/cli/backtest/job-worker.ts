import { parentPort } from 'node:worker_threads';
import type { Load, LoadData } from '../../backtest/simulation/load.js';
import { openLoad, type PortableInput, unpackInput } from './run-job.js';
import type { Scaler } from '../../scaler/spec.js';
import { runTracedJob } from './run-job.js';

export interface JobRequest {
  readonly scaler: Scaler;
  readonly setting: PortableInput;
  /** The loads that the worker does not have yet, by the numbers with which `setting` refers to them. */
  readonly loads: ReadonlyMap<number, LoadData>;
  readonly traceCharacters: number | null;
}

const loads = new Map<number, Load>();

parentPort?.on('message', ({ scaler, setting, loads: more, traceCharacters }: JobRequest) => {
  for (const [number, data] of more) loads.set(number, openLoad(data));
  const loadOf = (number: number): Load => {
    const load = loads.get(number);
    if (load === undefined) throw new Error(`load ${number} is missing`);
    return load;
  };
  parentPort?.postMessage(runTracedJob({ scaler, input: unpackInput(setting, loadOf) }, traceCharacters));
});
