import { describe, expect, it } from '@jest/globals';
import {
  createAnswerReader,
  createResponseEncryptor,
  decryptRequest,
  readPeerKeys,
  encryptRequest,
} from '../../../src/server/fleet/sealed.js';
import type { PeerMessage } from '../../../src/server/fleet/sealed.js';

const KEY = Buffer.from('k'.repeat(32));
const OTHER = Buffer.from('o'.repeat(32));
const QUESTION: PeerMessage = {
  to: 'second',
  atMs: 1000,
  path: '/api/v1/scalers',
  lastId: null,
  identity: { kind: 'user', user: { username: 'ann', fields: { groups: ['a', 'b'] } } },
};
const HEAD = { status: 404, type: 'application/json' };

describe('a sealed question', () => {
  it('is opened by any of the keys of the other replica, and by no other', () => {
    const { header } = encryptRequest(QUESTION, KEY);

    expect(decryptRequest(header, [OTHER, KEY])?.question).toEqual(QUESTION);
    expect(decryptRequest(header, [OTHER])).toBeNull();
    expect(decryptRequest(header, [])).toBeNull();
  });

  it('is not opened after a change of any byte', () => {
    const bytes = Buffer.from(encryptRequest(QUESTION, KEY).header, 'base64url');
    for (let index = 0; index < bytes.length; index += 1) {
      const changed = Buffer.from(bytes);
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(decryptRequest(changed.toString('base64url'), [KEY])).toBeNull();
    }
  });

  it('is not sealed for a user whose groups do not fit in a header', () => {
    const groups = Array.from({ length: 2000 }, (_, index) => `${Math.sin(index)}`);
    const identity = { kind: 'user', user: { username: 'ann', fields: { groups } } } as const;

    expect(() => encryptRequest({ ...QUESTION, identity }, KEY)).toThrow(RangeError);
  });
});

function sealedAnswer(): {
  readonly pieces: readonly Buffer[];
  readonly by: Parameters<typeof createAnswerReader>[0];
} {
  const { by } = encryptRequest(QUESTION, KEY);
  const sealer = createResponseEncryptor(by, () => HEAD);
  return { pieces: [sealer.seal(Buffer.from('one')), sealer.seal(Buffer.from('two')), sealer.end()], by };
}

describe('a sealed answer', () => {
  it.each([1, 7, 1000])('is read as it was written, %i bytes at a time', (step) => {
    const { pieces, by } = sealedAnswer();
    const reader = createAnswerReader(by, 1000);
    const bytes = Buffer.concat(pieces);
    const read: Buffer[] = [];

    for (let start = 0; start < bytes.length; start += step)
      read.push(...reader.push(bytes.subarray(start, start + step)));

    expect([Buffer.concat(read).toString(), reader.head(), reader.isWhole()]).toEqual(['onetwo', HEAD, true]);
  });

  it('is not whole without its end, and rejects moved, repeated and changed pieces', () => {
    const { pieces, by } = sealedAnswer();
    const [first = Buffer.alloc(0), second = Buffer.alloc(0), end = Buffer.alloc(0)] = pieces;
    const read = (...parts: readonly Buffer[]): boolean => {
      const reader = createAnswerReader(by, 1000);
      for (const part of parts) reader.push(part);
      return reader.isWhole();
    };

    expect([read(first, second), read(first, second, end)]).toEqual([false, true]);
    expect(() => read(first, end)).toThrow();
    expect(() => read(first, second, second)).toThrow();
    expect(() => read(second)).not.toThrow();
    const changed = Buffer.from(second);
    changed[5] = (changed[5] ?? 0) ^ 1;
    expect(() => read(first, changed)).toThrow();
  });

  it('rejects the answer to another question and a frame above the maximum', () => {
    const { pieces } = sealedAnswer();

    expect(() => createAnswerReader(sealedAnswer().by, 1000).push(Buffer.concat(pieces))).toThrow();
    const { pieces: own, by } = sealedAnswer();
    expect(() => createAnswerReader(by, 17).push(Buffer.concat(own))).toThrow(
      'a frame has an invalid length',
    );
  });
});

describe('a key file', () => {
  it('has up to four keys, one per line, of at least 32 characters', () => {
    const lines = ['a'.repeat(31), ...['b', 'c', 'd', 'e', 'f'].map((letter) => ` ${letter.repeat(32)} `)];

    const keys = readPeerKeys(lines.join('\n')).map(String);

    expect(keys).toEqual(['b', 'c', 'd', 'e'].map((letter) => letter.repeat(32)));
    expect(readPeerKeys(null)).toEqual([]);
  });
});
