import { describe, expect, it } from '@jest/globals';
import { classifyAnswer, parseSampleValue } from '../../../src/prometheus/answers/classify.js';
import { T0 } from '../../support/builders.js';
import { vectorBody } from '../fakes.js';

const SECONDS = T0 / 1000;

const ok = (data: unknown, extra: object = {}) =>
  classifyAnswer({
    status: 200,
    contentType: 'application/json',
    body: JSON.stringify({ status: 'success', data, ...extra }),
  });

const vector = (...result: unknown[]) => ({ resultType: 'vector', result });
const element = (value: unknown, metric: unknown = {}) => ({ metric, value: [SECONDS, value] });
const raw = (status: number, body: string, contentType = 'application/json') =>
  classifyAnswer({ status, contentType, body });
const apiError = (status: number, errorType: string, error = 'why') =>
  raw(status, JSON.stringify({ status: 'error', errorType, error }));

describe('classifyAnswer of success', () => {
  it('reads a vector with its labels and the evaluation time of the server', () => {
    expect(ok(vector(element('1.5', { pod: 'a' }), element('2e3', { pod: 'b' })))).toEqual({
      class: 'value',
      series: [
        { labels: { pod: 'a' }, value: 1.5 },
        { labels: { pod: 'b' }, value: 2000 },
      ],
      evaluatedAt: T0,
    });
  });

  it('reads a scalar as one series no labels', () => {
    expect(ok({ resultType: 'scalar', result: [SECONDS, '7'] })).toEqual({
      class: 'value',
      series: [{ labels: {}, value: 7 }],
      evaluatedAt: T0,
    });
  });

  it('reads an empty vector as missing', () => {
    expect(ok(vector())).toEqual({ class: 'missing', message: 'no series' });
  });

  it.each([
    ['string', { resultType: 'string', result: [SECONDS, 'x'] }],
    ['matrix', { resultType: 'matrix', result: [] }],
    ['unknown type', { resultType: 'stream', result: [] }],
    ['native histogram', vector({ metric: {}, histogram: [SECONDS, {}] })],
    ['no value', vector({ metric: {} })],
    ['no labels', vector({ value: [SECONDS, '1'] })],
    ['label that is not a string', vector(element('1', { pod: 1 }))],
    ['no time', vector({ metric: {}, value: [null, '1'] })],
    ['number instead of text', vector(element(1))],
    ['null', vector(element(null))],
    ['""', vector(element(''))],
    ['" "', vector(element(' '))],
    ['"0x10"', vector(element('0x10'))],
    ['"1_000"', vector(element('1_000'))],
    ['"1,5"', vector(element('1,5'))],
    ['"Infinity"', vector(element('Infinity'))],
    ['"nan"', vector(element('nan'))],
    ['"."', vector(element('.'))],
    ['element null', vector(null)],
  ])('rejects as invalid: %s', (_name, data) => {
    expect(ok(data).class).toBe('invalid');
  });

  it.each([
    ['NaN', NaN],
    ['+Inf', Infinity],
    ['-Inf', -Infinity],
    ['-3', -3],
    ['+.5', 0.5],
    ['1.', 1],
    ['1e-7', 1e-7],
    ['1E+21', 1e21],
  ])('reads the value %s', (text, value) => {
    expect(ok(vector(element(text)))).toMatchObject({ class: 'value', series: [{ labels: {}, value }] });
  });

  it('accepts 20,000 series and rejects 20,001', () => {
    const some = (count: number) => Array.from({ length: count }, () => element('1'));

    expect(ok(vector(...some(20_000))).class).toBe('value');
    expect(ok(vector(...some(20_001)))).toMatchObject({ class: 'failed', reason: 'too_large' });
  });
});

describe('classifyAnswer of a success with warnings', () => {
  it('is partial with a warning', () => {
    expect(ok(vector(element('1')), { warnings: ['store down', 'other'] })).toMatchObject({
      class: 'partial',
      why: 'warning from the server: store down (and 1 more)',
    });
  });

  it.each([
    [{ infos: ['PromQL info: x'] }],
    [{ warnings: ['PromQL info: metric might not be a counter'] }],
    [{ warnings: [] }],
    [{ warnings: null }],
    [{ isPartial: false }],
  ])('is complete with %j', (extra) => {
    expect(ok(vector(element('1')), extra).class).toBe('value');
  });

  it.each([[{ isPartial: true }], [{ warnings: ['PromQL info: x', 'store down'] }], [{ warnings: 'odd' }]])(
    'is partial with %j',
    (extra) => {
      expect(ok(vector(element('1')), extra).class).toBe('partial');
    },
  );

  it('is partial, not missing, if it is empty with a warning', () => {
    expect(ok(vector(), { warnings: ['store down'] })).toMatchObject({ class: 'partial', series: [] });
  });

  it('is invalid rather than partial if a value is not a number', () => {
    expect(ok(vector(element('')), { warnings: ['store down'] }).class).toBe('invalid');
  });
});

describe('classifyAnswer of failure', () => {
  it.each([
    [400, 'bad_data', 'bad_query'],
    [422, 'execution', 'execution'],
    [503, 'timeout', 'timeout'],
    [499, 'canceled', 'canceled'],
    [500, 'internal', 'server_error'],
    [500, 'unavailable', 'server_error'],
    [503, 'unavailable', 'server_error'],
    [422, '422', 'execution'],
    [200, 'execution', 'execution'],
    [500, 'toString', 'server_error'],
  ])('HTTP %d with errorType %s is %s', (status, errorType, reason) => {
    expect(apiError(status, errorType)).toMatchObject({ class: 'failed', reason });
  });

  it.each([
    [503, 'Service Unavailable', 'server_error'],
    [502, '<html>Bad Gateway</html>', 'server_error'],
    [401, 'Unauthorized', 'unauthorized'],
    [403, '', 'unauthorized'],
    [429, 'slow down', 'rate_limited'],
    [404, '404 page not found', 'bad_answer'],
    [302, '', 'bad_answer'],
    [304, '', 'bad_answer'],
    [413, '', 'too_large'],
    [400, 'no', 'bad_query'],
    [422, 'no', 'execution'],
    [204, '', 'bad_answer'],
    [200, '', 'bad_answer'],
    [200, '{"status":', 'bad_answer'],
    [200, '[]', 'bad_answer'],
    [200, 'null', 'bad_answer'],
    [200, '{}', 'bad_answer'],
    [200, '{"status":"success"}', 'bad_answer'],
    [200, '{"status":"success","data":{"resultType":"vector","result":{}}}', 'bad_answer'],
  ])('HTTP %d with the body %j is %s', (status, body, reason) => {
    expect(raw(status, body, 'text/plain')).toMatchObject({ class: 'failed', reason });
  });

  it.each([
    ['query timed out in query queue', 'busy'],
    ['query timed out in expression evaluation', 'timeout'],
  ])('HTTP 503 with errorType timeout and "%s" is %s', (error, reason) => {
    const body = JSON.stringify({ status: 'error', errorType: 'timeout', error });
    expect(raw(503, body, 'application/json')).toMatchObject({ class: 'failed', reason });
  });

  it('recognizes a login page as an HTML page', () => {
    expect(raw(200, '<!doctype html><title>Log in</title>', 'text/html')).toEqual({
      class: 'failed',
      reason: 'bad_answer',
      message:
        'HTTP 200 with an HTML page (a login page, or the URL is not that of a Prometheus server) instead of JSON',
    });
  });

  it('quotes the message of the server in one line of at most 300 characters', () => {
    const message = JSON.stringify(
      apiError(400, 'bad_data', `1:5: parse\u001b[31m\n error ${'x'.repeat(999)}`),
    );

    expect(message).toContain('HTTP 400 bad_data: 1:5: parse [31m error xxx');
    expect(message.length).toBeLessThan(420);
  });

  it('does not accept a body of success with the status 500', () => {
    expect(raw(500, vectorBody([{ labels: {}, value: 1 }]))).toMatchObject({ reason: 'server_error' });
  });
});

describe('parseSampleValue', () => {
  it('reads the longest numbers that a float64 has, and the others as Prometheus writes them', () => {
    const longest = (5e-324).toFixed(100);

    expect(parseSampleValue(`0.${'0'.repeat(323)}5`)).toBe(5e-324);
    expect(parseSampleValue(`-1${'0'.repeat(308)}`)).toBe(-1e308);
    expect(parseSampleValue(longest)).toBe(0);
    expect(['1.', '.5', '+1e+21', '-1.5E-3', 'NaN', '+Inf', 'Inf', '-Inf'].map(parseSampleValue)).toEqual([
      1,
      0.5,
      1e21,
      -0.0015,
      NaN,
      Infinity,
      Infinity,
      -Infinity,
    ]);
  });

  it.each(['', ' ', '.', '+', '1e', 'e5', '0x10', '1..2', '1 ', '--1', 'infinity', '.e1'])(
    'returns null for %j',
    (text) => {
      expect(parseSampleValue(text)).toBeNull();
    },
  );

  it('accepts at most 400 digits', () => {
    expect(parseSampleValue('1'.repeat(300).padEnd(400, '.').slice(0, 301))).toBeCloseTo(
      Number('1'.repeat(300)),
    );
    expect(parseSampleValue('0'.repeat(400))).toBe(0);
    expect(parseSampleValue('0'.repeat(401))).toBeNull();
  });

  it('does not backtrack over 5 million digits', () => {
    expect(parseSampleValue(`${'1'.repeat(5_000_000)}x`)).toBeNull();
    // Each digit may belong to the integer or to the fraction: 2^n or n^2 ways for a backtracking expression.
    expect(parseSampleValue(`${'1'.repeat(399)}x`)).toBeNull();
  });
});
