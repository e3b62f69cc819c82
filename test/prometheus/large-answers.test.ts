import { describe, expect, it } from '@jest/globals';
import type { Answer } from '../../src/prometheus/answers/answer.js';
import type { aSource } from '../support/builders.js';
import { vectorBody } from './fakes.js';
import { clientOf, serve } from './served.js';

const MIB = 1024 * 1024;
/** Buffers of both sockets hold some MiB that the client never reads. */
const IN_BUFFERS = 12 * MIB;

type Limits = Parameters<typeof aSource>[0];

/** Returns the answer to a query, and how many bytes of the body the server could send. */
async function askFor(
  body: Iterable<string>,
  limits: Limits,
): Promise<{ readonly answer: Answer; readonly sentBytes: number }> {
  let sentBytes = 0;
  const pieces = body[Symbol.iterator]();
  const server = await serve((response) => {
    const send = (): void => {
      while (!response.destroyed) {
        const { value, done } = pieces.next() as IteratorResult<string, undefined>;
        if (done === true) {
          response.end();
          return;
        }
        sentBytes += value.length;
        if (!response.write(value)) {
          response.once('drain', send);
          return;
        }
      }
    };
    response.writeHead(200, { 'content-type': 'application/json' });
    send();
  });
  const client = clientOf({ urls: [server.url], ...limits });
  const answer = await client.query('up', { timeoutMs: 60_000, mayRetry: false });
  return { answer, sentBytes };
}

const START = '{"status":"success","data":{"resultType":"vector","result":[';

function* text(totalBytes: number): Generator<string> {
  yield `${START}{"metric":{"a":"`;
  const piece = 'x'.repeat(64 * 1024);
  for (let sent = 0; sent < totalBytes; sent += piece.length) yield piece;
  yield '"},"value":[1,"1"]}]}}';
}

function* series(count: number): Generator<string> {
  yield START;
  for (let index = 0; index < count; index += 100)
    yield (
      Array.from(
        { length: 100 },
        (_, offset) => `{"metric":{"pod":"web-${index + offset}"},"value":[1,"1"]}`,
      ).join(',') + (index + 100 < count ? ',' : '')
    );
  yield ']}}';
}

describe('an answer of 200 MB', () => {
  it.each([
    [undefined, '16 MiB'],
    [MIB, '1 MiB'],
    [1_500_000, '1500000 bytes'],
  ])('is rejected as it arrives, with maxAnswerBytes %p', async (maxAnswerBytes, limit) => {
    const { answer, sentBytes } = await askFor(text(200 * MIB), { maxAnswerBytes });

    expect(answer).toMatchObject({ class: 'failed', reason: 'too_large' });
    expect(answer).toHaveProperty(
      'message',
      expect.stringContaining(`the answer is larger than maxAnswerBytes (${limit})`),
    );
    expect(sentBytes).toBeLessThan((maxAnswerBytes ?? 16 * MIB) + IN_BUFFERS);
  });
});

describe('an answer of a million series', () => {
  it('is rejected as it arrives', async () => {
    const { answer, sentBytes } = await askFor(series(1_000_000), { maxAnswerBytes: 256 * MIB });

    expect(answer).toMatchObject({ class: 'failed', reason: 'too_large' });
    expect(answer).toHaveProperty('message', expect.stringContaining('(maxSeries is 20000)'));
    expect(sentBytes).toBeLessThan(20 * MIB);
  });
});

describe('maxSeries', () => {
  const answerOf = async (count: number, limits: Limits): Promise<Answer> => {
    const body = vectorBody(
      Array.from({ length: count }, (_, pod) => ({ labels: { pod: `${pod}` }, value: 1 })),
    );
    return (await askFor([body], limits)).answer;
  };

  it('of 3 accepts 3 series and rejects 4', async () => {
    await expect(answerOf(3, { maxSeries: 3 })).resolves.toMatchObject({ class: 'value' });
    const answer = await answerOf(4, { maxSeries: 3 });

    expect(answer).toMatchObject({ class: 'failed', reason: 'too_large' });
    expect(answer).toHaveProperty(
      'message',
      expect.stringContaining('the answer has 4 series, more than maxSeries (3)'),
    );
  });

  it('of 25,000 accepts more series than the default of 20,000', async () => {
    await expect(answerOf(25_000, {})).resolves.toMatchObject({ reason: 'too_large' });
    await expect(answerOf(25_000, { maxSeries: 25_000 })).resolves.toMatchObject({ class: 'value' });
  });
});
