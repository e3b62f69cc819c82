import { randomBytes } from 'node:crypto';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from '@jest/globals';
import { answerLimits } from '../../../src/prometheus/answers/answer.js';
import { send, type SendResult } from '../../../src/prometheus/requests/send.js';
import { LightSignal } from '../../../src/units/light-deadline.js';
import { startServer } from '../fakes.js';

const KIB = 1024;
const MIB = 1024 * KIB;
const MOST_PACKED_BYTES = 16 * KIB;
const BROKEN = { kind: 'failed', reason: 'bad_answer', message: 'the compressed answer is broken' };

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  await Promise.all(cleanups.splice(0).map((cleanup) => cleanup()));
});

type Respond = Parameters<typeof startServer>[0];

/**
 * Asks a server with the limits of `maxAnswerBytes`. Fails unless all bytes count as read afterwards. `turnOf` is called
 * with the unread bytes for each turn that is taken.
 */
async function ask(
  respond: Respond,
  maxAnswerBytes = 16 * MIB,
  turnOf: (unreadBytes: number) => Promise<void> = () => Promise.resolve(),
): Promise<SendResult> {
  const server = await startServer(respond);
  const httpAgent = new HttpAgent({ keepAlive: true });
  cleanups.push(server.close);
  const unread = { bytes: 0 };
  const result = await send({
    method: 'POST',
    url: `${server.url}/api/v1/query`,
    parameters: 'query=up',
    connection: {
      httpAgent,
      httpsAgent: new HttpsAgent(),
      headers: {},
      secrets: [],
      signIn: null,
      unread,
      limits: answerLimits({ maxAnswerBytes, maxSeries: undefined }),
      takeTurn: () => turnOf(unread.bytes),
    },
    signal: new LightSignal(),
    checksBounds: true,
  });
  httpAgent.destroy();
  expect(unread.bytes).toBe(0);
  return result;
}

/** In pieces without a length, as Prometheus sends large answers. */
const packed =
  (body: Buffer, encoding = 'gzip'): Respond =>
  (response) => {
    response.writeHead(200, { 'Content-Encoding': encoding });
    for (let at = 0; at < body.length; at += 50_000) response.write(body.subarray(at, at + 50_000));
    response.end();
  };

function bytesOf(result: SendResult): Buffer | null {
  return result.kind === 'answered' ? (result.bytes ?? null) : null;
}

/** Returns a gzip body of this length, and what it contains: text that is not compressed. */
function packedTo(length: number): readonly [body: Buffer, content: Buffer] {
  for (let bytes = length; bytes > 0; bytes -= 1) {
    const content = Buffer.alloc(bytes, 'a');
    const body = gzipSync(content, { level: 0 });
    if (body.length === length) return [body, content];
  }
  throw new Error(`no body has ${length} bytes`);
}

describe('the end of an answer', () => {
  const plain =
    (body: Buffer): Respond =>
    (response) =>
      response.end(body);

  it.each([
    [256 * KIB, []],
    [256 * KIB + 1, [256 * KIB + 1]],
  ])(
    'of %d bytes waits for a turn of its own if it is large, and counts as unread until then',
    async (bytes, turns) => {
      const content = Buffer.alloc(bytes, 'a');
      for (const respond of [
        plain(content),
        packed(gzipSync(content)),
        packed(gzipSync(content, { level: 0 })),
      ]) {
        const unread: number[] = [];
        const steps: string[] = [];
        const asked = ask(respond, 16 * MIB, async (unreadBytes) => {
          unread.push(unreadBytes);
          await new Promise((resolve) => setImmediate(resolve));
          steps.push('turn');
        });

        expect(bytesOf(await asked.finally(() => steps.push('end')))?.equals(content)).toBe(true);
        expect(unread).toEqual(turns);
        expect(steps).toEqual([...turns.map(() => 'turn'), 'end']);
      }
    },
  );
});

describe('a compressed answer', () => {
  it.each([0, 1])(
    'is whole on both sides of what is decompressed at once: 16 KiB and %d bytes',
    async (more) => {
      const [body, content] = packedTo(MOST_PACKED_BYTES + more);

      expect(body).toHaveLength(MOST_PACKED_BYTES + more);
      expect(bytesOf(await ask(packed(body)))?.equals(content)).toBe(true);
    },
  );

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('with the encoding %s is whole below and above 256 KiB', async (encoding, encode) => {
    for (const bytes of [256 * KIB, 256 * KIB + 1]) {
      const content = Buffer.alloc(bytes, 'a');
      expect(bytesOf(await ask(packed(encode(content), encoding)))?.equals(content)).toBe(true);
    }
  });

  it.each([
    ['of 64 MiB in 64 KiB', Buffer.alloc(64 * MIB, ' '), 16 * MIB],
    ['of 64 KiB and a byte', Buffer.alloc(64 * KIB + 1, ' '), 64 * KIB],
    ['behind 300 KiB', Buffer.concat([randomBytes(300 * KIB), Buffer.alloc(16 * MIB, ' ')]), 16 * MIB],
    ['that is larger than its limit before it is decompressed', randomBytes(300 * KIB), 64 * KIB],
  ])('%s is refused if more than maxAnswerBytes', async (_what, content, maxAnswerBytes) => {
    const result = await ask(packed(gzipSync(content)), maxAnswerBytes);

    expect(result).toMatchObject({ kind: 'failed', reason: 'too_large' });
    expect(result).toHaveProperty('message', expect.stringContaining('larger than maxAnswerBytes'));
  });

  it('of exactly maxAnswerBytes is read', async () => {
    const content = Buffer.alloc(64 * KIB, ' ');

    expect(bytesOf(await ask(packed(gzipSync(content)), 64 * KIB))?.equals(content)).toBe(true);
  });

  it('of several members is whole', async () => {
    const result = await ask(packed(Buffer.concat([gzipSync('one '), gzipSync('two')])));

    expect(result).toMatchObject({ kind: 'answered', body: 'one two' });
  });

  it.each([
    ['small', gzipSync('some text')],
    ['large', gzipSync(randomBytes(300 * KIB))],
  ])('that is cut short or no gzip is broken: a %s one', async (_size, body) => {
    await expect(ask(packed(body.subarray(0, -9)))).resolves.toMatchObject(BROKEN);
    await expect(ask(packed(Buffer.from(body).fill(0, 0, 4)))).resolves.toMatchObject(BROKEN);
  });

  it('without a body is empty', async () => {
    const result = await ask((response) => response.writeHead(401, { 'Content-Encoding': 'gzip' }).end());

    expect(result).toMatchObject({ kind: 'answered', status: 401, body: '' });
  });

  it.each([100, 300 * KIB])('whose connection is cut off after %d bytes is none', async (bytes) => {
    const body = gzipSync(randomBytes(2 * bytes));
    const result = await ask((response) => {
      response.writeHead(200, { 'Content-Encoding': 'gzip', 'Content-Length': body.length });
      response.write(body.subarray(0, bytes), () => setImmediate(() => response.destroy()));
    });

    expect(result).toMatchObject({ kind: 'failed', reason: 'connection', code: 'ECONNABORTED' });
  });
});

describe('the headers of a query', () => {
  const headersFor = async (headers: Readonly<Record<string, string>>, user = '') => {
    const server = await startServer((response) => response.end());
    cleanups.push(server.close);
    const httpAgent = new HttpAgent();
    const url = server.url.replace('//', `//${user}`);
    const connection = { httpAgent, httpsAgent: new HttpsAgent(), headers, secrets: [], signIn: null };
    const parameters = 'query=%C3%A9';
    await send({ method: 'POST', url, parameters, connection, signal: new LightSignal() });
    const [request] = server.requests;
    return {
      host: server.url.replace('http://', ''),
      headers: request?.headers,
      form: request?.form.get('query'),
    };
  };

  it('have the host and the length of the body', async () => {
    const { host, headers, form } = await headersFor({ 'X-Scope-OrgID': 'team' });

    expect(headers).toMatchObject({
      host,
      'content-length': '12',
      'content-type': 'application/x-www-form-urlencoded',
      'x-scope-orgid': 'team',
      'user-agent': 'promscaler',
    });
    expect(form).toBe('é');
  });

  it('have the host of the config instead', async () => {
    const { headers, form } = await headersFor({ host: 'prometheus.example' });

    expect(headers).toMatchObject({ host: 'prometheus.example', 'content-length': '12' });
    expect(form).toBe('é');
  });

  it('have the user of the URL', async () => {
    const { headers } = await headersFor({}, 'me:secret@');

    expect(headers).toMatchObject({ authorization: `Basic ${Buffer.from('me:secret').toString('base64')}` });
  });
});
