import Runner from 'jest-runner';
import { buildPrograms } from './build.mjs';
import { fetchPrometheus } from './fetch-prometheus.mjs';
import { isInRealTime, isLongest, pathOf, startsProgram } from './programs-of-tests.mjs';

/** The workers for tests in real time. Each uses about an eighth of a core. */
const WAITING_WORKERS = 5;

/** The other workers per core: their tests wait for programs, files and timers in a quarter of their time. */
const WORKERS_PER_CORE = 1.5;

/**
 * Runs the tests in real time next to all others, each kind with its own workers. With one queue for both, either the
 * cores are idle while tests wait, or many workers compete for the cores. Before the first test, it builds the programs
 * that tests of this run start, and finds Prometheus.
 */
export default class TwoLanes extends Runner {
  #waiting;

  constructor(globalConfig, context) {
    const { maxWorkers } = globalConfig;
    super(
      { ...globalConfig, maxWorkers: maxWorkers === 1 ? 1 : Math.ceil(maxWorkers * WORKERS_PER_CORE) },
      context,
    );
    this.#waiting = new Runner({ ...globalConfig, maxWorkers: WAITING_WORKERS }, context);
  }

  on(event, listener) {
    const unsubscribes = [super.on(event, listener), this.#waiting.on(event, listener)];
    return () => unsubscribes.forEach((unsubscribe) => unsubscribe());
  }

  async runTests(tests, watcher, options) {
    if (tests.some((test) => startsProgram(pathOf(test)))) {
      await buildPrograms();
      if (tests.some((test) => isInRealTime(pathOf(test)))) await fetchPrometheus();
    }
    if (options.serial || this._globalConfig.maxWorkers === 1) return super.runTests(tests, watcher, options);
    const [waiting, working] = divide(tests, isInRealTime);
    await Promise.all([
      this.#waiting.runTests(divide(waiting, isLongest).flat(), watcher, options),
      super.runTests(working, watcher, options),
    ]);
  }
}

/** Returns the tests whose path is `of` a kind, and the others. */
function divide(tests, of) {
  const isOf = (test) => of(pathOf(test));
  return [tests.filter(isOf), tests.filter((test) => !isOf(test))];
}
