import { relative, sep } from 'node:path';
import Sequencer from '@jest/test-sequencer';
import { buildPrograms } from './build.mjs';
import { isInRealTime, startsProgram } from './programs-of-tests.mjs';

/**
 * Starts tests in real time first, concurrently, so that no core is idle at the end; then Jest's own order: the longest
 * first. Before the first test, it builds the programs that tests of this run start.
 */
export default class RealTimeFirst extends Sequencer {
  async sort(tests) {
    if (tests.some((test) => startsProgram(pathOf(test)))) await buildPrograms();
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
