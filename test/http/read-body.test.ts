import { randomBytes } from 'node:crypto';
import { Agent as HttpAgent, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from '@jest/globals';
import { failureWithoutAnswer, sendHttp } from '../../src/http/http-client.js';
import {
  type BodyLimits,
  BodyPool,
  OverloadError,
  readBody,
  TooLargeError,
} from '../../src/http/read-body.js';
import { eventually } from '../support/manual-clock.js';
import { startServer } from '../prometheus/fakes.js';

const KIB = 1024;
const MIB = 1024 * KIB;
const MOST_PACKED_BYTES = 16 * KIB;

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  await Promise.all(cleanups.splice(0).map((cleanup) => cleanup()));
});

type Respond = Parameters<typeof startServer>[0];
const { signal } = new AbortController();

async function responseOf(respond: Respond): Promise<IncomingMessage> {
  const server = await startServer(respond);
  const httpAgent = new HttpAgent({ keepAlive: true });
  cleanups.push(server.close, () => httpAgent.destroy());
  const agents = { httpAgent, httpsAgent: new HttpsAgent() };
  return sendHttp({ method: 'GET', url: server.url, headers: {}, body: null, signal, agents });
}

/** Reads a body. Fails unless all bytes count as read afterwards. */
async function read(respond: Respond, limits: Partial<BodyLimits> = {}): Promise<Buffer> {
  const pool = limits.pool ?? new BodyPool(64 * MIB);
  try {
    return await readBody(await responseOf(respond), { bytes: 16 * MIB, ...limits, pool });
  } finally {
    expect(pool.bytes).toBe(0);
  }
}

/** In pieces without a length, as Prometheus sends large answers. */
const packed =
  (body: Buffer, encoding = 'gzip'): Respond =>
  (response) => {
    response.writeHead(200, { 'Content-Encoding': encoding });
    for (let at = 0; at < body.length; at += 50_000) response.write(body.subarray(at, at + 50_000));
    response.end();
  };

/** Returns a gzip body of this length, and what it contains: text that is not compressed. */
function packedTo(length: number): readonly [body: Buffer, content: Buffer] {
  for (let bytes = length; bytes > 0; bytes -= 1) {
    const content = Buffer.alloc(bytes, 'a');
    const body = gzipSync(content, { level: 0 });
    if (body.length === length) return [body, content];
  }
  throw new Error(`no body has ${length} bytes`);
}

const plain =
  (body: Buffer): Respond =>
  (response) =>
    response.end(body);

describe('the end of a body', () => {
  it.each([
    [256 * KIB, []],
    [256 * KIB + 1, [256 * KIB + 1]],
  ])(
    'of %d bytes waits for a separate turn if it is large, and counts as unread until then',
    async (bytes, turns) => {
      const content = Buffer.alloc(bytes, 'a');
      for (const respond of [
        plain(content),
        packed(gzipSync(content)),
        packed(gzipSync(content, { level: 0 })),
      ]) {
        const pool = new BodyPool(64 * MIB);
        const unread: number[] = [];
        const steps: string[] = [];
        const yieldIfDue = async (): Promise<void> => {
          unread.push(pool.bytes);
          await new Promise((resolve) => setImmediate(resolve));
          steps.push('turn');
        };

        const body = await read(respond, { pool, yieldIfDue }).finally(() => steps.push('end'));

        expect(body.equals(content)).toBe(true);
        expect(unread).toEqual(turns);
        expect(steps).toEqual([...turns.map(() => 'turn'), 'end']);
      }
    },
  );
});

describe('a body without compression', () => {
  it('of 1,000 bytes is read if at most 1,000 are allowed, and refused if 999 are', async () => {
    const body = Buffer.alloc(1000, 'x');

    expect((await read(plain(body), { bytes: 1000 })).equals(body)).toBe(true);
    await expect(read(plain(body), { bytes: 999 })).rejects.toThrow('the response is larger than 999 bytes');
  });

  it('that ends before its length is none', async () => {
    const reading = read((response) => {
      response.writeHead(200, { 'Content-Length': 10 });
      response.write('12345', () => setImmediate(() => response.destroy()));
    });

    await expect(
      reading.catch((error: unknown) => failureWithoutAnswer(error, signal)),
    ).resolves.toMatchObject({
      reason: 'connection',
      code: 'ECONNABORTED',
    });
  });

  it.each([
    ['[1,2]', null],
    ['[1,2,3,4]', 'the response has more than 3 array elements and object members'],
    [' {"a":[[1]]}', 'the response has more than 2 levels of arrays and objects'],
    ['no JSON: [[[,,,,', null],
  ])('is refused as it arrives if its JSON exceeds a bound: %s', async (text, why) => {
    const reading = read(plain(Buffer.from(text)), { json: { depth: 2, items: 3 } });

    if (why === null) expect((await reading).toString()).toBe(text);
    else await expect(reading).rejects.toThrow(why);
  });
});

describe('a compressed body', () => {
  it.each([0, 1])(
    'is whole on both sides of what is decompressed at once: 16 KiB and %d bytes',
    async (more) => {
      const [body, content] = packedTo(MOST_PACKED_BYTES + more);

      expect(body).toHaveLength(MOST_PACKED_BYTES + more);
      expect((await read(packed(body))).equals(content)).toBe(true);
    },
  );

  it.each([
    ['gzip', gzipSync],
    ['X-GZIP', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('with the encoding %s is whole below and above 256 KiB', async (encoding, encode) => {
    for (const bytes of [256 * KIB, 256 * KIB + 1]) {
      const content = Buffer.alloc(bytes, 'a');
      expect((await read(packed(encode(content), encoding))).equals(content)).toBe(true);
    }
  });

  it.each([
    ['of 64 MiB in 64 KiB', gzipSync(Buffer.alloc(64 * MIB, ' ')), 16 * MIB],
    ['of 64 KiB and a byte', gzipSync(Buffer.alloc(64 * KIB + 1, ' ')), 64 * KIB],
    [
      'behind 300 KiB',
      gzipSync(Buffer.concat([randomBytes(300 * KIB), Buffer.alloc(16 * MIB, ' ')])),
      16 * MIB,
    ],
    ['that is larger before it is decompressed', gzipSync(randomBytes(300 * KIB)), 64 * KIB],
    ['of 80 KiB that contains nothing', Buffer.concat(Array<Buffer>(4096).fill(gzipSync(''))), 64 * KIB],
  ])('%s is refused', async (_what, body, bytes) => {
    const reading = read(packed(body), { bytes });

    await expect(reading).rejects.toThrow(TooLargeError);
    await expect(reading).rejects.toThrow(`the response is larger than ${bytes} bytes`);
  });

  it('of exactly the bound is read', async () => {
    const content = Buffer.alloc(64 * KIB, ' ');

    expect((await read(packed(gzipSync(content)), { bytes: 64 * KIB })).equals(content)).toBe(true);
  });

  it('of several members is whole', async () => {
    const body = await read(packed(Buffer.concat([gzipSync('one '), gzipSync('two')])));

    expect(body.toString()).toBe('one two');
  });

  it.each([
    ['small', gzipSync('some text')],
    ['large', gzipSync(randomBytes(300 * KIB))],
  ])('that is cut short or no gzip is broken: a %s one', async (_size, body) => {
    for (const broken of [body.subarray(0, -9), Buffer.from(body).fill(0, 0, 4)]) {
      const failure = await read(packed(broken)).catch((error: unknown) =>
        failureWithoutAnswer(error, signal),
      );
      expect(failure).toMatchObject({ reason: 'bad_answer', message: 'the compressed answer is broken' });
    }
  });

  it('without content is empty', async () => {
    const body = await read((response) => response.writeHead(401, { 'Content-Encoding': 'gzip' }).end());

    expect(body).toHaveLength(0);
  });

  it.each([100, 300 * KIB])('whose connection is cut off after %d bytes is none', async (bytes) => {
    const body = gzipSync(randomBytes(2 * bytes));
    const failure = await read((response) => {
      response.writeHead(200, { 'Content-Encoding': 'gzip', 'Content-Length': body.length });
      response.write(body.subarray(0, bytes), () => setImmediate(() => response.destroy()));
    }).catch((error: unknown) => failureWithoutAnswer(error, signal));

    expect(failure).toMatchObject({ reason: 'connection', code: 'ECONNABORTED' });
  });

  it('that is refused closes its connection', async () => {
    let isClosed = false;
    const body = gzipSync(randomBytes(300 * KIB));

    await expect(
      read(
        (response) => {
          response.on('close', () => (isClosed = true));
          response.writeHead(200, { 'Content-Encoding': 'gzip' }).write(body);
        },
        { bytes: 64 * KIB },
      ),
    ).rejects.toThrow(TooLargeError);
    await eventually(() => isClosed);
  });
});

describe('bodies that are too large in total', () => {
  /** Starts to read a body in the pool. Its server sends what `add` says. */
  const start = async (pool: BodyPool) => {
    let stream: Parameters<Respond>[0] | null = null;
    const response = await responseOf((answer) => {
      stream = answer;
      answer.flushHeaders();
    });
    const state: { error: unknown; length: number | null } = { error: null, length: null };
    const done = readBody(response, { bytes: 64 * KIB, pool }).then(
      ({ length }) => (state.length = length),
      (error: unknown) => (state.error = error),
    );
    const add = async (kib: number): Promise<void> => {
      const total = pool.bytes + kib * KIB;
      stream?.write(Buffer.alloc(kib * KIB, ' '));
      await eventually(() => pool.bytes === total || state.error !== null || pool.bytes < total - kib * KIB);
    };
    return { add, end: async () => (stream?.end(), await done), state };
  };

  it('of 193 KiB cost the largest one, not the small one whose piece came last', async () => {
    const pool = new BodyPool(192 * KIB);
    const [small, ...large] = [await start(pool), await start(pool), await start(pool), await start(pool)];
    for (const [index, kib] of [63, 64, 63].entries()) await large[index]?.add(kib);
    await small.add(2);
    expect(large.map(({ state }) => state.error)).toEqual([null, null, null]);

    await small.add(1);
    await eventually(() => large.some(({ state }) => state.error !== null));

    expect(large.map(({ state }) => state.error instanceof OverloadError)).toEqual([false, true, false]);
    for (const one of [small, ...large]) await one.end();
    expect([small.state.length, pool.bytes]).toEqual([3 * KIB, 0]);
  });

  it('cost the body itself if it is the largest', async () => {
    const pool = new BodyPool(192 * KIB);
    const others = [await start(pool), await start(pool), await start(pool)];
    for (const one of others) await one.add(60);
    const largest = await start(pool);
    await largest.add(12);

    await largest.add(49);
    await eventually(() => largest.state.error instanceof OverloadError);

    expect(others.map(({ state }) => state.error)).toEqual([null, null, null]);
    for (const one of others) await one.end();
  });
});
