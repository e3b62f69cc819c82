import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { decide } from '../../../src/decision/decide.js';
import { parseSnapshot } from '../../../src/decision/snapshot/parse-snapshot.js';
import type { Snapshot } from '../../../src/decision/snapshot/snapshot.js';
import { parseRecordLine } from '../../../src/recording/record-line.js';
import type { Cells, FaultCell } from './cells.js';
import type { ScaleDown } from './cluster.js';
import { NAMESPACE, SUBJECTS } from './plan.js';

/** What happened to one scaler in one cell. */
export interface Counts {
  readonly rounds: number;
  /** Rounds in which the value, had it been a full one, proposes fewer replicas than the load needs. */
  readonly low: number;
  /** Of these, rounds in which it would have scaled down. */
  readonly prevented: number;
  /** PATCHes that lowered the replicas below those that the load needs. */
  readonly wrong: number;
}

export interface JudgedFault {
  readonly name: string;
  /** By name of the scaler. */
  readonly counts: ReadonlyMap<string, Counts>;
}

export interface JudgedFall {
  readonly name: string;
  /** By name of the scaler. */
  readonly times: ReadonlyMap<string, FallTimes>;
}

/** Seconds from the fall of the load; null: it did not come. */
export interface FallTimes {
  /** To the first PATCH. */
  readonly first: number | null;
  /** To the first PATCH to the new count. */
  readonly whole: number | null;
}

export interface Judged {
  readonly faults: readonly JudgedFault[];
  readonly falls: readonly JudgedFall[];
}

/** Counts the rounds of each cell in the decision record, and the PATCHes that the API server received in it. */
export async function judge(
  { faults, falls }: Cells,
  { record, scaleDowns }: { readonly record: string; readonly scaleDowns: readonly ScaleDown[] },
): Promise<Judged> {
  const counted = faults.map(() => new Map<string, Counts>(SUBJECTS.map(({ name }) => [name, NONE])));
  for await (const text of createInterface({ input: createReadStream(record) })) {
    const line = parseRecordLine(text);
    if ('error' in line || line.snapshot === null) continue;
    const index = faults.findIndex((cell) => isIn(cell, line.at));
    const [cell, counts] = [faults[index], counted[index]];
    const name = line.scaler.slice(NAMESPACE.length + 1);
    const before = counts?.get(name);
    if (cell === undefined || counts === undefined || before === undefined) continue;
    const { isLow, isPrevented } = judgeRound(parseSnapshot(line.snapshot), cell.replicas);
    counts.set(name, {
      ...before,
      rounds: before.rounds + 1,
      low: before.low + (isLow ? 1 : 0),
      prevented: before.prevented + (isPrevented ? 1 : 0),
    });
  }
  for (const { workload, atMs, replicas } of scaleDowns) {
    const index = faults.findIndex((cell) => isIn(cell, atMs) && replicas < cell.replicas);
    const counts = counted[index];
    const before = counts?.get(workload);
    if (before !== undefined) counts?.set(workload, { ...before, wrong: before.wrong + 1 });
  }
  return {
    faults: faults.map(({ name }, index) => ({ name, counts: counted[index] ?? new Map() })),
    falls: falls.map(({ name, startMs, replicas }) => ({
      name,
      times: new Map(
        SUBJECTS.map((subject) => {
          const own = scaleDowns.filter(({ workload, atMs }) => workload === subject.name && atMs >= startMs);
          const secondsTo = (down: ScaleDown | undefined): number | null =>
            down === undefined ? null : (down.atMs - startMs) / 1000;
          const whole = own.find((down) => down.replicas === replicas);
          return [subject.name, { first: secondsTo(own[0]), whole: secondsTo(whole) }];
        }),
      ),
    })),
  };
}

const NONE: Counts = { rounds: 0, low: 0, prevented: 0, wrong: 0 };

function isIn({ startMs, endMs }: FaultCell, atMs: number): boolean {
  return atMs >= startMs && atMs < endMs;
}

/** Decides as if the samples were full values, for a load that needs these replicas. */
function judgeRound(
  snapshot: Snapshot,
  needed: number,
): { readonly isLow: boolean; readonly isPrevented: boolean } {
  const samples = snapshot.samples.map((sample) =>
    sample.form === 'error' ? sample : { ...sample, partial: null },
  );
  const { recommendedReplicas, desiredReplicas, action } = decide({ ...snapshot, samples });
  return {
    isLow: recommendedReplicas !== null && recommendedReplicas < needed,
    isPrevented: action === 'scale-down' && desiredReplicas < needed,
  };
}
