import { createController } from '../../src/control/controller.js';
import type { Controller, ControllerPorts } from '../../src/control/controller.js';
import { runCycle } from '../../src/control/cycle/cycle.js';
import { alwaysLeads } from '../../src/control/election/leadership.js';
import type { CycleInput, CycleOutput } from '../../src/control/cycle/types.js';
import type { Round } from '../../src/control/round-times.js';
import { UNKNOWN_AGE } from '../../src/prometheus/source/age.js';
import type { Scaler } from '../../src/scaler/spec.js';
import { scalerKey } from '../../src/scaler/spec.js';
import { settle } from '../support/manual-clock.js';
import type { ManualClock } from '../support/manual-clock.js';
import { answerOf, Fixture } from './fixture.js';
import { FOLLOW_UPS } from './run-cycle.js';

/** Runs in place of a cycle; by default it is the real one on the fixture's cluster. */
export type CycleScript = (input: CycleInput, run: () => Promise<CycleOutput>) => Promise<CycleOutput>;

/** A controller for one fake cluster that records its cycles. */
export class ControllerFixture {
  readonly fixture = new Fixture();
  readonly clock: ManualClock = this.fixture.clock;
  readonly stop = new AbortController();
  readonly controller: Controller;
  isSynced = true;
  isListing = false;
  /** Inputs of all cycles. */
  readonly inputs: CycleInput[] = [];
  /** Outputs of all cycles that have ended. */
  readonly outputs: CycleOutput[] = [];
  readonly rounds: Round[] = [];
  /** Keys of the scalers that each round queried for. */
  readonly asked: (readonly string[])[] = [];
  readonly followed: (readonly string[])[] = [];
  readonly faults: (readonly [string, unknown])[] = [];
  readonly removed: string[] = [];
  readonly clockSteps: number[] = [];
  /** Resolves when the answers of the next rounds arrive. */
  arrival: Promise<void> = Promise.resolve();
  script: CycleScript = (_input, run) => run();

  constructor() {
    this.controller = createController(this.#ports(), async (input) => {
      this.inputs.push(input);
      const output = await this.script(input, () => runCycle(input, this.fixture.ports()));
      this.outputs.push(output);
      return output;
    });
  }

  /** Starts with these scalers and waits for the first round. */
  async start(...scalers: readonly Scaler[]): Promise<void> {
    this.controller.setScalers(scalers);
    this.ended = this.controller.run(this.stop.signal);
    await settle();
  }

  ended: Promise<void> = Promise.resolve();

  /** Returns the keys of the cycles that began at that second. */
  begunAt(seconds: number): readonly string[] {
    const start = this.fixture.clock.now() - this.clock.monotonicMs();
    return this.inputs
      .filter(({ now }) => now - start === seconds * 1000)
      .map(({ scaler }) => scalerKey(scaler));
  }

  /** Holds each cycle that `isMeant` just before it runs; the returned function releases them. */
  holdCycles(isMeant: (input: CycleInput) => boolean = () => true): () => void {
    const { opened, open } = gate();
    this.script = async (input, run) => {
      if (isMeant(input)) await opened;
      return run();
    };
    return open;
  }

  #ports(): ControllerPorts {
    return {
      clock: this.clock,
      isSynced: () => this.isSynced,
      isListing: () => this.isListing,
      follow: (scalers) => this.followed.push(scalers.map(scalerKey)),
      startRound: (due, _signal, onReady) => {
        this.asked.push(due.map(scalerKey));
        const answers = [answerOf(this.fixture.load, this.clock.now())];
        const ages = new Map([['default', UNKNOWN_AGE]]);
        const sinceMs = this.clock.monotonicMs();
        void this.arrival.then(() => {
          for (const scaler of due) onReady(scaler, { answers, ages, sinceMs }, FOLLOW_UPS);
        });
      },
      cycle: this.fixture.ports(),
      shards: { leadershipOf: () => alwaysLeads('test'), track: (_bucket, work) => work() },
      onRound: (round) => this.rounds.push(round),
      onClockSet: (seconds) => this.clockSteps.push(seconds),
      onFault: (scaler, error) => this.faults.push([scalerKey(scaler), error]),
      onRemoved: (key) => this.removed.push(key),
    };
  }
}

/** Returns a promise and the function that resolves it. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}
