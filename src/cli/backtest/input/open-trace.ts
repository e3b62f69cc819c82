import { resolve } from 'node:path';
import { DEMAND_STEP_SECONDS } from '../../../backtest/compare/variant.js';
import { evenLoad } from '../../../backtest/load/even-load.js';
import type { Load } from '../../../backtest/load/load.js';
import { parseTraceInParts } from '../../../backtest/load/parse-trace.js';
import { describeReadError } from '../../../config/describe-read-error.js';
import { readBoundedText } from '../../../files/read-bounded.js';
import { takeTurns } from '../../../units/clock.js';
import type { Instant } from '../../../units/time.js';
import { CommandError, type CommandIo } from '../../process/io.js';
import { parseTime } from './parse-options.js';

/** 30 days of seconds are 40 MB. */
const MAX_TRACE_BYTES = 128 * 1024 * 1024;

/** Reads a load trace and prints its problems. Throws `CommandError`. */
export async function openTrace(file: string, start: string | undefined, io: CommandIo): Promise<Load> {
  const startTime: Instant | null = start === undefined ? null : parseTime('--start', start);
  const takeTurn = takeTurns(io.clock);
  const parts = parseTraceInParts(await readText(file, io), startTime);
  let part = parts.next();
  for (; part.done !== true; part = parts.next()) {
    await takeTurn();
    if (io.signal.aborted) throw new CommandError(`--trace: reading ${file}: interrupted`);
  }
  const { load, problems } = part.value;
  for (const { severity, line, message } of problems)
    io.stderr.write(`${file}${line === null ? '' : `:${line}`}: ${severity}: ${message}\n`);
  if (load === null) throw new CommandError(`--trace: ${file} is not used`);
  return evenLoad(load, DEMAND_STEP_SECONDS);
}

async function readText(file: string, io: CommandIo): Promise<string> {
  if (file === '-') return io.readStdin();
  try {
    return await readBoundedText(resolve(io.cwd, file), {
      mostBytes: MAX_TRACE_BYTES,
      pipe: { signal: io.signal },
    });
  } catch (error) {
    throw new CommandError(`--trace: reading ${file}: ${describeReadError(error)}`);
  }
}
