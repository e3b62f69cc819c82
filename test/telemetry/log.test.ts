import { describe, expect, it } from '@jest/globals';
import { createLog } from '../../src/telemetry/log.js';
import type { LogOptions } from '../../src/telemetry/log.js';
import type { Log } from '../../src/units/log.js';
import type { Clock } from '../../src/units/clock.js';
import { at } from '../support/builders.js';

const CLOCK: Clock = {
  now: () => at(1.5),
  monotonicMs: () => 0,
  random: () => 0,
  after: () => () => undefined,
};

describe('createLog', () => {
  it('writes one JSON object per line, with the time of its clock', () => {
    const { log, lines } = capture();

    log.info('replicas changed', { scaler: 'shop/web', from: 3, to: 5 });

    expect(lines).toEqual([
      '{"level":"info","time":"2026-01-01T00:00:01.500Z","scaler":"shop/web","from":3,"to":5,"message":"replicas changed"}\n',
    ]);
  });

  it('writes a line of text for a terminal', () => {
    const { log, lines } = capture({ format: 'text' });

    log.warn('metric has no value', {
      scaler: 'shop/web',
      error: 'no series\nlevel=error',
      limits: ['policy'],
    });

    expect(lines).toEqual([
      '2026-01-01T00:00:01.500Z WARN  metric has no value scaler=shop/web error="no series\\nlevel=error" limits="[\\"policy\\"]"\n',
    ]);
  });

  it.each([
    ['debug', 4],
    ['info', 3],
    ['warn', 2],
    ['error', 1],
  ] as const)('at level %s writes %i of 4 lines', (level, count) => {
    const { log, lines } = capture({ level });

    log.debug('a');
    log.info('b');
    log.warn('c');
    log.error('d');

    expect(lines).toHaveLength(count);
  });

  it('prints no credentials: by name, inside strings, in an error and in its cause', () => {
    const { log, lines } = capture();

    log.error('failed', {
      headers: { Authorization: 'canary', 'X-Api-Key': 'canary' },
      bearerToken: 'canary',
      basicAuth: { username: 'me', password: 'canary' },
      url: 'http://me:canary@prometheus:9090/x',
      error: new Error('sent Bearer canary', { cause: new Error('http://u:canary@h') }),
      of: Object.assign(new Error('other'), { config: { headers: { cookie: 'canary' } } }),
      list: [new Map([['secret', 'canary']])],
    });

    expect(lines.join('')).not.toContain('canary');
    expect(lines.join('')).toContain('http://[redacted]@prometheus:9090/x');
    expect(lines.join('')).toContain('"error":"sent Bearer [redacted]: http://[redacted]@h"');
  });

  it('truncates a string at 1,024 characters and nesting at 4, and lets no fact replace a standard field', () => {
    const { log, lines } = capture();

    log.info('m', {
      text: 'x'.repeat(1025),
      deep: { a: { b: { c: { d: { e: 1 } } } } },
      level: 'x',
      message: 'y',
    });

    expect(JSON.parse(lines[0] ?? '')).toEqual({
      level: 'info',
      time: '2026-01-01T00:00:01.500Z',
      text: `${'x'.repeat(1024)}...`,
      deep: { a: { b: { c: { d: '[...]' } } } },
      level_: 'x',
      message_: 'y',
      message: 'm',
    });
  });

  it('has no C1 or bidi characters of a fact, and escapes its line breaks', () => {
    const { log, lines } = capture();

    log.info('m', { text: 'a\u202eb\u009bc\nd', error: new Error('\u2066e') });

    expect(lines[0]).toContain('"text":"a\ufffdb\ufffdc\\nd","error":"\ufffde"');
  });

  it('prints values that JSON cannot represent', () => {
    const { log, lines } = capture();

    log.info('m', { milli: 5n, ratio: Number.NaN, limit: Number.POSITIVE_INFINITY, none: null });

    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      milli: '5',
      ratio: 'NaN',
      limit: 'Infinity',
      none: null,
    });
  });
});

function capture(overrides: Partial<LogOptions> = {}): { readonly log: Log; readonly lines: string[] } {
  const lines: string[] = [];
  const stream = { write: (line: string) => lines.push(line) };
  return { log: createLog({ stream, level: 'debug', format: 'json', clock: CLOCK, ...overrides }), lines };
}
