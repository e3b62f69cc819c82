import { chartFlags } from './chart-flags.js';

/** Options of `parseArgs` that every benchmark with a fleet of a given size has. */
export const RUN_OPTIONS = {
  pods: { type: 'string', default: '10' },
  rounds: { type: 'string', default: '50' },
  warmup: { type: 'string', default: '3' },
  'heap-limit': { type: 'string', default: '768' },
} as const;

/** Returns the values of `RUN_OPTIONS`. */
export function readRunOptions(values: Readonly<Record<keyof typeof RUN_OPTIONS, string>>): {
  readonly pods: number;
  readonly rounds: number;
  readonly warmupRounds: number;
  readonly nodeFlags: readonly string[];
} {
  return {
    pods: Number(values.pods),
    rounds: Number(values.rounds),
    warmupRounds: Number(values.warmup),
    nodeFlags: chartFlags(values['heap-limit']),
  };
}
