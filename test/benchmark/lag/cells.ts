import { pause } from '../pause.js';
import type { Lane } from './lane.js';
import {
  LONG_STABILIZATION_SECONDS,
  NAMESPACE,
  type Path,
  RECOVERY_SECONDS,
  REPLICAS,
  SUBJECTS,
  TIME_SCALE,
  WINDOW_SECONDS,
} from './plan.js';

/** A time in which the load needs these replicas, whatever the samples say. */
export interface FaultCell {
  readonly name: string;
  readonly replicas: number;
  readonly startMs: number;
  readonly endMs: number;
}

/** A fall of the load to this many pods, which the replicas have to follow. */
export interface FallCell {
  readonly name: string;
  readonly startMs: number;
  readonly replicas: number;
}

export interface Cells {
  readonly faults: readonly FaultCell[];
  readonly falls: readonly FallCell[];
}

interface Fault {
  readonly name: string;
  /** How long it lasts. */
  readonly seconds: number;
  readonly begin: (lane: Lane) => void | Promise<void>;
  readonly end: (lane: Lane) => void | Promise<void>;
}

/** Longer than the stabilization and the range together: a value that reads too low for this long scales down. */
const LASTING_SECONDS = LONG_STABILIZATION_SECONDS + 35;
/** After the range, the value is missing. */
const ENDING_SECONDS = 2 * WINDOW_SECONDS;
/** An engine that was started within twice the range holds each scale-down. */
const START_SECONDS = 2 * WINDOW_SECONDS + 15;
const STOPPED_SECONDS = 45 / TIME_SCALE;
const RULE_DELAY_SECONDS = 120 / TIME_SCALE;
/** A dip of the load that is over before a late rule shows it, and before the stabilization lets it through. */
const DIP_SECONDS = { short: 20, long: LONG_STABILIZATION_SECONDS + 15 } as const;

function lag(name: string, seconds: number): Fault {
  return {
    name: `remote write late by ${name}`,
    seconds: LASTING_SECONDS,
    begin: ({ writes }) => writes?.setDelay(seconds),
    end: ({ writes }) => writes?.setDelay(0),
  };
}

const FAULTS: Readonly<Record<Path, readonly Fault[]>> = {
  scrape: [
    failing('all scrapes fail', () => true, ENDING_SECONDS),
    failing('half of the targets fail', (node) => node % 2 === 0, LASTING_SECONDS),
    {
      name: 'engine stopped (SIGSTOP) for 45 s',
      seconds: STOPPED_SECONDS,
      begin: ({ engine }) => engine.suspend(),
      end: ({ engine }) => engine.resume(),
    },
    {
      name: 'engine killed, back with its data after 45 s',
      seconds: STOPPED_SECONDS,
      begin: ({ engine }) => engine.kill(),
      end: ({ engine }) => engine.restart(),
    },
  ],
  agent: [
    lag('20 s', 20 / TIME_SCALE),
    lag('half of the range', WINDOW_SECONDS / 2),
    lag('the range - 8 s', WINDOW_SECONDS - 2),
    {
      name: 'agent killed',
      seconds: ENDING_SECONDS,
      begin: ({ agent }) => agent?.kill(),
      end: ({ agent }) => agent?.restart(),
    },
  ],
  rule: [
    {
      name: 'recording rule late by 120 s, after a dip of the load',
      seconds: DIP_SECONDS.long + RULE_DELAY_SECONDS + 10,
      begin: async (lane) => {
        lane.writes?.setDelay(RULE_DELAY_SECONDS);
        // The rule has to be late before the dip begins.
        await pause(RULE_DELAY_SECONDS * 1000, NEVER);
        for (const { name, stabilizationSeconds } of SUBJECTS) {
          lane.cluster.setLoad(name, REPLICAS / 4);
          const seconds = stabilizationSeconds === 0 ? DIP_SECONDS.short : DIP_SECONDS.long;
          setTimeout(() => lane.cluster.setLoad(name, REPLICAS), seconds * 1000);
        }
      },
      end: ({ writes }) => writes?.setDelay(0),
    },
  ],
};

const NEVER = new AbortController().signal;

function failing(name: string, isFailing: (node: number) => boolean, seconds: number): Fault {
  return {
    name,
    seconds,
    begin: ({ cluster: { nodes, failingNodes } }) => {
      for (const node of nodes) if (isFailing(node)) failingNodes.add(node);
    },
    end: ({ cluster: { failingNodes } }) => failingNodes.clear(),
  };
}

/** Runs all cells of a path, one after the other. */
export async function runCells(
  lane: Lane,
  given: { readonly path: Path; readonly report: (cell: string) => void; readonly signal: AbortSignal },
): Promise<Cells> {
  const { path, report, signal } = given;
  const { cluster } = lane;
  const faults: FaultCell[] = [];
  const falls: FallCell[] = [];
  const wait = (seconds: number): Promise<void> => pause(seconds * 1000, signal);
  const during = async (name: string, replicas: number, run: () => Promise<void>): Promise<void> => {
    const startMs = Date.now();
    report(name);
    await run();
    faults.push({ name, replicas, startMs, endMs: Date.now() });
  };
  const setLoad = (pods: number): void => {
    for (const { name } of SUBJECTS) cluster.setLoad(name, pods);
  };
  const fall = async (name: string, replicas: number): Promise<void> => {
    report(name);
    falls.push({ name, startMs: Date.now(), replicas });
    setLoad(replicas);
    await untilFallen(lane, replicas, signal);
  };

  report('start');
  await wait(START_SECONDS);
  await fall('the load halves', REPLICAS / 2);
  await during('the own scale-down', REPLICAS / 2, () => wait(RECOVERY_SECONDS));
  setLoad(REPLICAS);
  // After this, the rates show the load, and nothing scales down from these replicas.
  await wait(WINDOW_SECONDS + 5);
  for (const { name } of SUBJECTS) cluster.simulator.setReplicas({ namespace: NAMESPACE, name }, REPLICAS);
  await wait(RECOVERY_SECONDS);
  for (const { name, seconds, begin, end } of FAULTS[path])
    await during(name, REPLICAS, async () => {
      await begin(lane);
      await wait(seconds);
      await end(lane);
      await wait(RECOVERY_SECONDS);
    });
  if (path !== 'scrape') return { faults, falls };
  await during('rollout', REPLICAS, async () => {
    for (const { name } of SUBJECTS)
      cluster.simulator.setTemplate({ namespace: NAMESPACE, name }, NEXT_TEMPLATE);
    await wait(RECOVERY_SECONDS);
  });
  await fall('the load halves after the rollout', REPLICAS / 2);
  return { faults, falls };
}

const NEXT_TEMPLATE = { metadata: { annotations: { revision: '2' } } };

/** More than the range, the stabilization, and the time for which a result of old samples is kept. */
const LONGEST_FALL_MS = (WINDOW_SECONDS + LONG_STABILIZATION_SECONDS + 45) * 1000;

/** Returns when each workload has reached these replicas, which it may have left again, or after the longest time. */
async function untilFallen({ cluster }: Lane, replicas: number, signal: AbortSignal): Promise<void> {
  const waiting = new Set(SUBJECTS.map(({ name }) => name));
  const endMs = performance.now() + LONGEST_FALL_MS;
  while (waiting.size > 0 && performance.now() < endMs) {
    for (const name of waiting) if (cluster.replicas(name) <= replicas) waiting.delete(name);
    await pause(200, signal);
  }
}
