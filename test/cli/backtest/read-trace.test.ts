import { describe, expect, test } from '@jest/globals';
import { parseTrace } from '../../support/backtests.js';
import type { TraceProblem } from '../../../src/cli/backtest/read-trace.js';
import { T0, at } from '../../support/builders.js';

const trace = (...lines: readonly string[]): ReturnType<typeof parseTrace> =>
  parseTrace(['t_seconds,value', ...lines].join('\n'), T0);

const error = (line: number | null, message: string): readonly TraceProblem[] => [
  { severity: 'error', line, message },
];

describe('a load trace', () => {
  test('of 400 days is read, a longer one is not', () => {
    const days = (count: number): ReturnType<typeof trace> =>
      trace(...Array.from({ length: count }, (_, day) => `${day * 86_400},1`));

    expect(days(400).load).not.toBeNull();
    expect(days(401)).toEqual({
      load: null,
      problems: [{ severity: 'error', line: 402, message: 'the trace has 401 days, must have at most 400' }],
    });
    expect(trace('0,1', '3000000000,1').load).toBeNull();
  });

  test('of as many lines as the limit is read, a longer one is not', () => {
    const text = ['t_seconds,value', '0,1', '# night', '15,1', '30,1'].join('\n');

    expect(parseTrace(text, T0, 3)).toMatchObject({ load: { points: 3 }, problems: [] });
    expect(parseTrace(`${text}\n# end\n\n`, T0, 3).problems).toEqual([]);
    expect(parseTrace(`${text}\n45,1\n60,1`, T0, 3)).toEqual({
      load: null,
      problems: error(6, 'the trace has more than 3 lines'),
    });
  });

  test('gives each value from its time until the next, and the last one for one more step', () => {
    const { load, problems } = trace('0,10', '15,20', '30,0');

    expect(problems).toEqual([]);
    expect([load?.start, load?.end, load?.points]).toEqual([T0, at(45), 3]);
    expect([0, 14.999, 15, 30, 45].map((seconds) => load?.at(at(seconds)))).toEqual([10, 10, 20, 0, 0]);
    expect(load?.at(at(-0.001))).toBeNull();
    expect(load?.at(at(45.001))).toBeNull();
  });

  test('starts at the given time, whatever its first second is', () => {
    const { load } = trace('1000,1', '1015,2');

    expect([load?.start, load?.at(at(15))]).toEqual([T0, 2]);
  });

  test('has a mean over time: 10 for 15 s and 20 for 5 s are 12.5', () => {
    const { load } = trace('0,10', '15,20', '30,0');

    expect(load?.mean(at(0), at(20))).toBe(12.5);
    expect(load?.mean(at(15), at(15))).toBe(20);
  });

  test.each(['', 'NaN', 'nan', '-nan'])('reads the value "%s" as a gap, never as 0', (value) => {
    const { load, problems } = trace('0,10', `15,${value}`, '30,30');

    expect(load?.at(at(20))).toBeNull();
    expect(load?.mean(at(16), at(29))).toBeNull();
    expect(load?.mean(at(0), at(45))).toBe(20);
    expect(problems).toEqual([
      { severity: 'warning', line: 3, message: 'no value; gaps are not filled and not scored' },
    ]);
  });

  test('accepts steps of up to twice the median, and has a gap after the median step of a longer one', () => {
    const even = ['0,1', '10,1', '20,1', '30,1'];
    const twice = trace(...even, '50,2', '60,2');
    const longer = trace(...even, '50.1,2', '60.1,2');

    expect(twice.load?.at(at(45))).toBe(1);
    expect(twice.problems).toEqual([
      {
        severity: 'warning',
        line: 6,
        message: 'the step is 20 s instead of 10 s; each value applies until the next value',
      },
    ]);
    expect([longer.load?.at(at(39.9)), longer.load?.at(at(40)), longer.load?.at(at(50.1))]).toEqual([
      1,
      null,
      2,
    ]);
    expect(longer.problems).toEqual([
      { severity: 'warning', line: 6, message: 'a gap of 20.1 s; gaps are not filled and not scored' },
    ]);
  });

  test('skips empty lines and comments, a byte order mark and Windows line ends', () => {
    const { load, problems } = parseTrace('\uFEFFt_seconds,value\r\n# night\r\n\r\n0,1\r\n15, 2\r\n', T0);

    expect(problems).toEqual([]);
    expect(load?.at(at(15))).toBe(2);
  });

  test.each([
    ['', null, 'the trace is empty, must start with the line t_seconds,value'],
    ['0,1\n15,2', 1, 'the first line is "0,1", must be t_seconds,value'],
    ['t_seconds,value', null, 'the trace has no line after the header t_seconds,value'],
    ['t_seconds,value\n0,1', 2, 'a trace needs at least 2 lines with values'],
    ['t_seconds,value\n0,\n15,NaN', null, 'no line of the trace has a value'],
    ['t_seconds,value\n0,1\n15', 3, '"15" must be two numbers, as in 60,12.5'],
    ['t_seconds,value\n0,1\n15,2,3', 3, '"15,2,3" must be two numbers, as in 60,12.5'],
    ['t_seconds,value\n0,1\nnoon,2', 3, 't_seconds is "noon", must be a number of seconds'],
    ['t_seconds,value\n0,1\n15,many', 3, 'value is "many", must be a number, or empty for a gap'],
    ['t_seconds,value\n0,1\n15,Infinity', 3, 'value is "Infinity", must be a number, or empty for a gap'],
    ['t_seconds,value\n0,1\n15,-1', 3, 'value is -1, must not be negative'],
    ['t_seconds,value\n0,1\n0,2', 3, 't_seconds is 0, must be greater than 0 of line 2'],
    ['t_seconds,value\n15,1\n0,2', 3, 't_seconds is 0, must be greater than 15 of line 2'],
    ['t_seconds,value\n0,1\n15,1.1e15', 3, 'value is 1.1e15, must be at most 1000000000000000'],
    ['t_seconds,value\n0,1\n15,1e309', 3, 'value is 1e309, must be at most 1000000000000000'],
    ['t_seconds,value\n0,1\n7,2', 3, 'the trace has 14 s, must have at least 15 s'],
    ['t_seconds,value\n-1e10,1\n15,2', 2, 't_seconds is -1e10, must be at least -3155760000'],
    ['t_seconds,value\n0,1\n1e300,2', 3, 't_seconds is 1e300, must be at most 3155760000'],
    [
      't_seconds,value\n0,1\n15,\u001b[31m',
      3,
      'value is "\\u001b[31m", must be a number, or empty for a gap',
    ],
  ])('rejects %j at line %j', (text, line, message) => {
    expect(parseTrace(text, T0)).toEqual({ load: null, problems: error(line, message) });
  });

  test('reports at most 10 lines', () => {
    const { load, problems } = trace(...Array.from({ length: 1000 }, () => 'text,text'));

    expect(load).toBeNull();
    expect(problems.map(({ line }) => line)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  });
});
