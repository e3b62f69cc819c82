import type { LoadAhead } from '../decision/forecast/propose-forecast.js';
import type { Scaler } from '../scaler/spec.js';
import { createReadyQueue } from '../units/clock.js';
import type { Answer } from './answers/answer.js';
import type { SourceConfig } from './data-source/source-config.js';
import { createCapacityWatch } from './queries/capacity-watch.js';
import { noFollowUps } from './queries/follow-ups.js';
import { createLearnedWindows, type LearnedWindows } from './queries/learned-windows.js';
import { type HistorySource, openSource, type SourceOptions } from './queries/open-source.js';
import { createRoundPlanner, type Plan } from './queries/plan-round.js';
import { type OnReady, type RoundInput, sendRound, withoutValues } from './queries/round.js';

export interface MetricSource {
  /** Compiles the queries of these scalers and forgets other queries. Yields to the event loop every 20 ms. */
  readonly setScalers: (scalers: readonly Scaler[]) => void;
  /**
   * Sends each distinct query of the due scalers once, before the next round begins and within the limits of the data
   * sources. Calls `onReady` for each scaler when all its answers have arrived, and possibly for other scalers whose
   * queries were sent as well. All scalers must have the same sync period.
   */
  readonly startRound: (due: readonly Scaler[], signal: AbortSignal, onReady: OnReady) => void;
  /** Returns null if the data source does not exist. */
  readonly historyOf: (source: string) => HistorySource | null;
  /** Returns the predicted load; null: the scaler has no forecast, or the load of earlier days was not read yet. */
  readonly loadAhead: (scaler: Scaler) => LoadAhead | null;
}

export interface MetricSourceOptions extends SourceOptions {
  readonly sources: ReadonlyMap<string, SourceConfig>;
}

const LEARN_SECONDS = 10;
const CAPACITY_SECONDS = 30;

export function createMetricSource(options: MetricSourceOptions): MetricSource {
  const { clock, onFault = () => undefined } = options;
  const sources = new Map(
    Array.from(options.sources, ([name, config]) => [name, openSource(config, options)]),
  );
  const planner = createRoundPlanner(clock, onFault);
  const windows = createLearnedWindows({ sources: options.sources, clock, onFault });
  const capacities = createCapacityWatch({ clock, onFault });
  const ready = createReadyQueue(clock);
  let rounds = 0;
  /** Resolves when the last compilation or round ends. The next one waits for it, because both yield to other work. */
  let last: Promise<void> = Promise.resolve();

  return {
    setScalers: (scalers) => {
      last = last.then(() => planner.compile(scalers, windows.sources())).catch(onFault);
    },
    startRound: (due, signal, onReady) => {
      rounds += 1;
      const startMs = clock.monotonicMs();
      const round = { sources, clock, signal, number: rounds, startMs, ready, capacities, onReady, onFault };
      const makePlan = async (): Promise<Plan | null> => {
        try {
          for (const { reportCounts } of sources.values()) reportCounts();
          return await planner.planFor(due, windows.sources());
        } catch (error) {
          onFault(error);
          // Every scaler gets a reading: if a cycle waited forever, its scaler would never be due again.
          const followUps = noFollowUps(options.sources);
          for (const scaler of due) onReady(scaler, withoutValues(scaler, startMs), followUps);
          return null;
        }
      };
      const planAndSend = async (): Promise<void> => {
        const plan = await makePlan();
        if (plan === null) return;
        await sendRound(plan, round);
        learnWindows(plan, round, windows);
        readCapacities(plan, round);
      };
      last = last.then(planAndSend).catch(onFault);
    },
    historyOf: (name) => sources.get(name)?.history() ?? null,
    loadAhead: (scaler) => {
      const { metrics, forecast } = scaler.spec;
      const metric = forecast === null ? undefined : metrics[forecast.metric];
      return metric === undefined ? null : (sources.get(metric.source)?.histories.ahead(scaler) ?? null);
    },
  };
}

function learnWindows(
  plan: Plan,
  { sources, signal, number: round }: RoundInput,
  windows: LearnedWindows,
): void {
  for (const [name, config] of plan.sources) {
    const source = sources.get(name);
    if (source === undefined || !plan.queries.some((query) => query.source.name === name)) continue;
    windows.learn(source.configFor(config), {
      scalers: () => plan.queriesOf.keys(),
      runQuery: (text) => source.queue.query(text, { seconds: LEARN_SECONDS, signal, round }),
    });
  }
}

/** Sends the queries for `capacity.auto` after the queries of the round. The round does not wait for them. */
function readCapacities(plan: Plan, { sources, signal, number: round, capacities }: RoundInput): void {
  capacities.read(plan.queriesOf.keys(), (source, text, { namespace, name }) => {
    const owners = [{ namespace, scaler: name }];
    const queue = sources.get(source)?.queue;
    return queue?.query(text, { seconds: CAPACITY_SECONDS, signal, round, owners }) ?? null;
  });
}

/** Returns the answers for each scaler, in the order of its metrics, once all have arrived. Never rejects. */
export async function readAnswers(
  options: MetricSourceOptions,
  scalers: readonly Scaler[],
  signal: AbortSignal,
): Promise<ReadonlyMap<Scaler, readonly Answer[]>> {
  const source = createMetricSource(options);
  const answers = new Map<Scaler, readonly Answer[]>();
  const periods = new Set(scalers.map(({ spec }) => spec.syncPeriodSeconds));
  if (scalers.length > 0)
    await new Promise<void>((resolve) => {
      for (const period of periods)
        source.startRound(
          scalers.filter(({ spec }) => spec.syncPeriodSeconds === period),
          signal,
          (scaler, readings) => {
            answers.set(scaler, readings.answers);
            if (answers.size === scalers.length) resolve();
          },
        );
    });
  return answers;
}
