import { relative, sep } from 'node:path';
import Sequencer from '@jest/test-sequencer';
import { buildPrograms } from './build.mjs';
import { fetchPrometheus } from './fetch-prometheus.mjs';
import { isInRealTime, startsProgram } from './programs-of-tests.mjs';

/**
 * Starts tests in real time first, concurrently, so that no core is idle at the end; then Jest's own order: the longest
 * first. Before the first test, it builds the programs that tests of this run start, and finds Prometheus.
 */
export default class RealTimeFirst extends Sequencer {
  async sort(tests) {
    if (tests.some((test) => startsProgram(pathOf(test)))) {
      await buildPrograms();
      if (tests.some((test) => isInRealTime(pathOf(test)))) await fetchPrometheus();
    }
    const sorted = await super.sort(tests);
    const [waiting, working] = [true, false].map((waits) =>
      sorted.filter((test) => isInRealTime(pathOf(test)) === waits),
    );
    return [...waiting, ...working];
  }
}

function pathOf({ path, context }) {
  return relative(context.config.rootDir, path).replaceAll(sep, '/');
}
