import Sequencer from '@jest/test-sequencer';

/** Tests of processes in real time: they wait more than they work. */
const IN_REAL_TIME = /[\\/]test[\\/](?:e2e|faults[\\/]processes)[\\/]/;

/** They begin first, beside each other, so that no core is left idle at the end; otherwise Jest's own order: the longest first. */
export default class RealTimeFirst extends Sequencer {
  async sort(tests) {
    const sorted = await super.sort(tests);
    const [waiting, working] = [true, false].map((waits) =>
      sorted.filter(({ path }) => IN_REAL_TIME.test(path) === waits),
    );
    return [...waiting, ...working];
  }
}
