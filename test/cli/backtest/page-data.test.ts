import { describe, expect, it } from '@jest/globals';
import { createBand, type PageData } from '../../../src/backtest/page-data.js';
import { createExplanations } from '../../../src/cli/backtest/run-job.js';
import { pageText } from '../../../src/cli/backtest/write-html.js';
import { addSeconds } from '../../../src/units/time.js';
import { T0 } from '../../support/builders.js';

const at = (seconds: number): typeof T0 => addSeconds(T0, seconds);

describe('a band of 4 parts over 40 s', () => {
  it('keeps the lowest and the highest value of each part; a part without a value is null', () => {
    const band = createBand(T0, at(40), 4);
    band.add(3, at(0), at(5));
    band.add(7, at(5), at(6));
    band.add(5, at(6), at(20));
    band.add(NaN, at(20), at(30));
    band.add(1, at(39), at(60));

    expect(band.finish()).toEqual({ low: [3, 5, null, 1], high: [7, 5, null, 1] });
  });

  it('has a peak of 1 s among 100,000 values', () => {
    const band = createBand(T0, at(100_000), 10);
    for (let second = 0; second < 100_000; second += 1)
      band.add(second === 54_321 ? 99 : 1, at(second), at(second + 1));

    expect(band.finish().high).toEqual([1, 1, 1, 1, 1, 99, 1, 1, 1, 1]);
  });
});

describe('explanations', () => {
  it('store a line that repeats once', () => {
    const explanations = createExplanations(1000);

    expect([explanations.add(() => ['a', 'b']), explanations.add(() => ['b', 'c'])]).toEqual([
      [0, 1],
      [1, 2],
    ]);
    expect(explanations.lines()).toEqual(['a', 'b', 'c']);
  });

  it('are left out when there is no room, and no longer made: 20 characters hold one line of 11', () => {
    const explanations = createExplanations(20);
    let made = 0;
    const add = (text: string): readonly number[] =>
      explanations.add(() => {
        made += 1;
        return [text];
      });

    expect([add('x'.repeat(11)), add('y'.repeat(11)), add('z')]).toEqual([[0], [], []]);
    expect([made, explanations.lines()]).toEqual([2, ['x'.repeat(11)]]);
  });
});

describe('the text of the page', () => {
  const DATA: PageData = {
    version: '1',
    from: 0,
    verdict: null,
    seconds: 1,
    table: { columns: [], rows: [{ name: '</script><script>alert(1)</script>', cells: [] }] },
    notes: ['<!--'],
    recommendation: [],
    assumptions: [],
    demand: { low: [], high: [] },
    runs: [],
    lines: [],
  };

  it('has no markup from names, and the hashes of its script and style', () => {
    const text = pageText(DATA, { script: 'run()', style: 'p {}' });

    expect(text.match(/<\/?script|<!--/g)).toEqual(['<script', '</script', '<script', '</script']);
    // printf 'run()' | openssl dgst -sha256 -binary | base64, and the same for the style.
    expect(text).toContain(
      "script-src 'sha256-AvyuiL0SD1mVY3NNxR+V2uo+lhk6RMFrytWmRt6CrJQ='; style-src 'sha256-SNJDlN1Iy2mnt7DOjQIyDb2LQE6O5PQiSZomcdzawQ4='",
    );
    const json = /<script id="data" type="application\/json">(.*)<\/script>/.exec(text)?.[1] ?? '';
    expect(JSON.parse(json)).toEqual(DATA);
  });
});
