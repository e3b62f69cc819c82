import { describe, expect, it } from '@jest/globals';
import type { RangeAnswer } from '../../src/prometheus/answers/classify.js';
import { type BackTestResult, runBackTest } from '../../src/recommendations/back-test.js';
import type { Clock } from '../../src/units/clock.js';
import { aScaler, aSource, at, cpuMetric } from '../support/builders.js';
import { ManualClock, settle } from '../support/manual-clock.js';
import { realClock } from '../prometheus/fakes.js';

const NO_ANSWER: RangeAnswer = { class: 'matrix', series: [] };
const RANGE = { start: at(0), end: at(600), stepSeconds: 60, warmUpSeconds: 0 };
const SECRET = 'secret-4711';

/** Runs a worker with this code. */
function run(
  code: string,
  {
    clock = realClock,
    signal = new AbortController().signal,
    answer = () => NO_ANSWER,
  }: { readonly clock?: Clock; readonly signal?: AbortSignal; readonly answer?: () => RangeAnswer } = {},
): Promise<BackTestResult> {
  const text = `import { parentPort, workerData } from 'node:worker_threads';\n${code}`;
  return runBackTest(aScaler([cpuMetric]), RANGE, {
    clock,
    sources: [aSource({ headers: { 'X-Key': SECRET }, urls: [`http://${SECRET}.example`] })],
    queryRange: () => Promise.resolve(answer()),
    cpuPercent: 20,
    signal,
    entry: new URL(`data:text/javascript,${encodeURIComponent(text)}`),
  });
}

describe('runBackTest', () => {
  it.each([
    ["throw new Error('defect')", 'the back-test failed: (Error: )?defect'],
    ['process.exit(3)', 'the back-test failed: the worker thread exited'],
    [
      'const all = []; for (;;) all.push(new Array(100_000).fill({}));',
      'the back-test failed: the back-test takes more than 256 MiB of memory',
    ],
    [
      "parentPort.postMessage({ kind: 'impossible', why: 'it has no metric' })",
      'the document cannot be back-tested: it has no metric',
    ],
  ])('says why a worker with the code %s found nothing', async (code, why) => {
    // An error of another realm is written with its name.
    expect(await run(code)).toEqual({ why: expect.stringMatching(new RegExp(`^${why}$`)) });
  });

  it('gives the worker no environment, addresses or credentials', async () => {
    process.env['BACK_TEST_SECRET'] = SECRET;
    const result = await run(
      "parentPort.postMessage({ kind: 'impossible', why: JSON.stringify([process.env, workerData.sources]) })",
    );
    delete process.env['BACK_TEST_SECRET'];

    expect(result).toEqual({ why: expect.stringContaining('scrapeIntervalSeconds') });
    expect(JSON.stringify(result)).not.toContain(SECRET);
  });

  it('ends a worker in an endless loop when the signal is aborted, without a result', async () => {
    const stopping = new AbortController();
    const running = run('for (;;);', { signal: stopping.signal });

    stopping.abort();

    expect(await running).toBeNull();
  });

  it('starts nothing that outlives a signal that is aborted already', async () => {
    expect(await run('for (;;);', { signal: AbortSignal.abort() })).toBeNull();
  });

  it('ends a worker after 2 h', async () => {
    const clock = new ManualClock();
    const running = run('for (;;);', { clock });
    await settle();

    clock.advance(2 * 3_600_000);

    expect(await running).toEqual({ why: 'the back-test failed: the back-test takes longer than 2h' });
    expect(clock.pending).toBe(0);
  });

  it('sends at most 1,000 queries', async () => {
    let sent = 0;
    const code = `
      for (let number = 1; number <= 1001; number += 1)
        parentPort.postMessage({ kind: 'query', number, source: 'default', query: {} });
      parentPort.on('message', ({ number, answer }) => {
        if (answer.class === 'failed') parentPort.postMessage({ kind: 'impossible', why: number + ' ' + answer.message });
      });`;
    const result = await run(code, {
      answer: () => {
        sent += 1;
        return NO_ANSWER;
      },
    });

    expect(result).toEqual({
      why: expect.stringMatching(
        /1001 the history has more than 2000000 points or needs more than 1000 queries/,
      ),
    });
    expect(sent).toBe(1000);
  });
});
