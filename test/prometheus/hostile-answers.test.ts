import { describe, expect, it } from '@jest/globals';
import { classifyAnswer } from '../../src/prometheus/answers/classify.js';
import { type FakeServer, vectorBody } from './fakes.js';
import { clientOf, serve } from './served.js';

const ask = ({ url }: FakeServer) => clientOf({ urls: [url] }).query('up', { timeoutMs: 20_000 });

const MIB = 1024 * 1024;
const BODY = vectorBody([{ labels: {}, value: 3 }]);

describe('the status of an answer', () => {
  it.each([200, 203])('%i is a complete answer', (status) => {
    expect(classifyAnswer({ status, contentType: null, body: BODY })).toMatchObject({ class: 'value' });
  });

  it.each([201, 202, 204, 205, 206, 207, 226, 299])('%i is not, although its body is complete', (status) => {
    expect(classifyAnswer({ status, contentType: null, body: BODY })).toEqual({
      class: 'failed',
      reason: 'bad_answer',
      message: `HTTP ${status}: only 200 and 203 are complete answers`,
    });
  });

  it('206 is not a source of the start time', async () => {
    const server = await serve((response) =>
      response.writeHead(206).end('{"status":"success","data":{"startTime":"2026-01-01T00:00:00Z"}}'),
    );

    const client = clientOf({ urls: [server.url] });

    await expect(client.startTime({ timeoutMs: 2000 })).resolves.toBeNull();
  });
});

/** Values that are not strings, by name; many of them throw when converted to a string. */
const NO_TEXTS: readonly string[] = [
  '{"toString":1}',
  '{"toString":null,"valueOf":null}',
  '{"__proto__":{"toString":1}}',
  '{"constructor":1}',
  '{"toJSON":1}',
  '[{"toString":1}]',
  '[[[]]]',
  '[]',
  '{}',
  'null',
  'true',
  '1.5',
  '1e999',
];

describe('a member of the wrong type', () => {
  it.each(NO_TEXTS)('%s as a sample value is an invalid answer', (value) => {
    const body = `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,${value}]}]}}`;

    expect(classifyAnswer({ status: 200, contentType: null, body })).toMatchObject({ class: 'invalid' });
  });

  it.each(NO_TEXTS)('%s as a scalar is an invalid answer', (value) => {
    const body = `{"status":"success","data":{"resultType":"scalar","result":[1,${value}]}}`;

    expect(classifyAnswer({ status: 200, contentType: null, body })).toMatchObject({ class: 'invalid' });
  });

  it.each(NO_TEXTS)('%s as a warning makes the answer partial', (value) => {
    const body = BODY.replace('{"status"', `{"warnings":[${value}],"status"`);

    expect(JSON.parse(body)).toHaveProperty('warnings');
    expect(classifyAnswer({ status: 200, contentType: null, body })).toMatchObject({ class: 'partial' });
  });

  it.each(NO_TEXTS.filter((value) => value !== '{}'))('%s in any other place is not a value', (value) => {
    const bodies = [
      `{"status":${value}}`,
      `{"status":"success","data":${value}}`,
      `{"status":"success","data":{"resultType":${value},"result":[]}}`,
      `{"status":"success","data":{"resultType":"vector","result":{"0":${value},"length":1}}}`,
      `{"status":"success","data":{"resultType":"vector","result":[${value}]}}`,
      `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"pod":${value}},"value":[1,"1"]}]}}`,
      `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":${value}}]}}`,
      `{"status":"error","errorType":${value},"error":${value}}`,
    ];
    for (const body of bodies) {
      expect(classifyAnswer({ status: 200, contentType: null, body }).class).toMatch(/^(?:failed|invalid)$/);
    }
  });

  it.each(['-1e300', '1e300', '253402300800', '-1e12'])('%s as a time is ignored', (seconds) => {
    const body = `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[${seconds},"1"]}]}}`;

    expect(classifyAnswer({ status: 200, contentType: null, body })).toMatchObject({ class: 'invalid' });
  });

  it('labels can have the name of a built-in member of objects', () => {
    const metric = '{"__proto__":"a","constructor":"b","toString":"c"}';
    const body = `{"status":"success","data":{"resultType":"vector","result":[{"metric":${metric},"value":[1,"1"]}]}}`;

    const answer = classifyAnswer({ status: 200, contentType: null, body });

    expect(answer.class === 'value' && Object.entries(answer.series[0]?.labels ?? {})).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
      ['toString', 'c'],
    ]);
  });
});

describe('the size of an answer', () => {
  it.each([
    ['empty objects', '{},', 'the answer has more than 500000 array elements and object members'],
    ['empty arrays', '[],', 'the answer has more than 500000 array elements and object members'],
    [
      'objects with a name of their own',
      '{"a":0},',
      'the answer has more than 500000 array elements and object members',
    ],
    ['levels', '[', 'the answer has more than 64 levels of arrays and objects'],
  ])('of %s is bounded before it is parsed', async (_what, piece, why) => {
    const server = await serve((response) =>
      response.end(`{"status":"success","data":[${piece.repeat(Math.floor((15 * MIB) / piece.length))}`),
    );

    const answer = await ask(server);

    expect(answer).toMatchObject({ class: 'failed', reason: 'too_large' });
    expect(answer).toHaveProperty('message', expect.stringContaining(why));
  });

  it.each([
    [
      '500,000 empty objects in 2 MB',
      '{},'.repeat(500_000),
      'more than 500000 array elements and object members',
    ],
    ['65 levels', '['.repeat(65), 'more than 64 levels of arrays and objects'],
  ])('is bounded before it is parsed in a small answer, too: %s', async (_what, data, why) => {
    const server = await serve((response) => response.end(`{"status":"success","data":[${data}`));

    const answer = await ask(server);

    expect(answer).toMatchObject({ class: 'failed', reason: 'too_large' });
    expect(answer).toHaveProperty(
      'message',
      expect.stringContaining(`the answer has ${why} (maxSeries is 20000)`),
    );
  });

  it('can be 16 MiB of text, and no more', async () => {
    const most = `${BODY}${' '.repeat(16 * MIB - BODY.length)}`;
    const sizes = [most, `${most} `];
    const server = await serve((response) => response.end(sizes.shift()));

    await expect(ask(server)).resolves.toMatchObject({ class: 'value' });
    await expect(ask(server)).resolves.toMatchObject({ class: 'failed', reason: 'too_large' });
  });

  it('counts the decompressed size of a gzip answer', async () => {
    const { gzipSync } = await import('node:zlib');
    const bomb = gzipSync(Buffer.alloc(64 * MIB, ' '));
    const server = await serve((response) =>
      response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(bomb),
    );

    await expect(ask(server)).resolves.toMatchObject({ class: 'failed', reason: 'too_large' });
  });

  it('is bounded for all concurrent answers of one source: 10 of 15 MiB, and then one is accepted again', async () => {
    const whole = `${BODY}${' '.repeat(15 * MIB - BODY.length)}`;
    const last = ' '.repeat(1024);
    const waiting: (() => void)[] = [];
    const server = await serve((response) => {
      response.write(whole.slice(0, -last.length));
      waiting.push(() => response.end(last));
    });
    const client = clientOf({ urls: [server.url], maxConcurrentQueries: 10 });
    const answers = Array.from({ length: 10 }, () =>
      client.query('up', { timeoutMs: 20_000, mayRetry: false }).then((answer) => {
        for (const end of waiting.splice(0)) end();
        return answer;
      }),
    );

    const classes = (await Promise.all(answers)).map((answer) =>
      answer.class === 'failed' ? answer.reason : answer.class,
    );
    const after = client.query('up', { timeoutMs: 20_000 });
    const timer = setInterval(() => {
      for (const end of waiting.splice(0)) end();
    }, 20);

    expect(new Set(classes)).toEqual(new Set(['value', 'busy']));
    await expect(after).resolves.toMatchObject({ class: 'value' });
    clearInterval(timer);
  });
});
