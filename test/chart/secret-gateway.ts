import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** A listener in front of an API server. */
export interface Gateway {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/**
 * Passes requests on, those in protobuf as JSON: helm stores its releases in Secrets in protobuf, which the simulator
 * does not read. Answers are sent when they are complete, so watches are not supported.
 */
export async function startSecretGateway(server: string): Promise<Gateway> {
  const gateway = createServer((request, response) => {
    pass(server, request).then(
      async (answer) => {
        response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
        response.end(await answer.text());
      },
      () => response.destroy(),
    );
  });
  gateway.listen(0, '127.0.0.1');
  await once(gateway, 'listening');
  const address = gateway.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      gateway.close();
      gateway.closeAllConnections();
      await once(gateway, 'close');
    },
  };
}

async function pass(server: string, request: IncomingMessage): Promise<Response> {
  const method = request.method ?? 'GET';
  const sent = await buffer(request);
  const type = request.headers['content-type'] ?? 'application/json';
  const isProtobuf = type.includes('protobuf');
  const body = isProtobuf ? JSON.stringify(method === 'DELETE' ? {} : decodeSecret(sent)) : sent;
  return fetch(server + (request.url ?? '/'), {
    method,
    headers: {
      'content-type': isProtobuf ? 'application/json' : type,
      accept: 'application/json',
      'user-agent': request.headers['user-agent'] ?? '',
    },
    ...(sent.length > 0 ? { body } : {}),
  });
}

/** Numbers of the fields: k8s.io/api core/v1 and apimachinery meta/v1, generated.proto. */
function decodeSecret(bytes: Buffer): unknown {
  const secret = textsOrBytes(bytes.subarray(4), 2)[0] ?? Buffer.alloc(0);
  const metadata = textsOrBytes(secret, 1)[0] ?? Buffer.alloc(0);
  // An empty string means that the field is absent.
  const text = (message: Buffer, field: number): string | undefined =>
    textsOrBytes(message, field)[0]?.toString() || undefined;
  const entries = (message: Buffer, field: number, encoding: 'utf8' | 'base64'): Record<string, string> =>
    Object.fromEntries(
      textsOrBytes(message, field).map((entry) => [
        text(entry, 1) ?? '',
        textsOrBytes(entry, 2)[0]?.toString(encoding) ?? '',
      ]),
    );
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: text(metadata, 1),
      namespace: text(metadata, 3),
      labels: entries(metadata, 11, 'utf8'),
    },
    data: entries(secret, 2, 'base64'),
    type: text(secret, 3),
  };
}

/** Returns all length-delimited fields with this number. */
function textsOrBytes(message: Buffer, wanted: number): readonly Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at < message.length;) {
    const tag = varint(message, at);
    const value = varint(message, tag.next);
    const isDelimited = tag.value % 8 === 2;
    const end = isDelimited ? value.next + value.value : value.next;
    if (isDelimited && Math.floor(tag.value / 8) === wanted) found.push(message.subarray(value.next, end));
    at = end;
  }
  return found;
}

function varint(message: Buffer, start: number): { readonly value: number; readonly next: number } {
  let value = 0;
  for (let at = start, factor = 1; at < message.length; at += 1, factor *= 128) {
    const byte = message[at] ?? 0;
    value += (byte % 128) * factor;
    if (byte < 128) return { value, next: at + 1 };
  }
  throw new Error('the message ends within a number');
}
