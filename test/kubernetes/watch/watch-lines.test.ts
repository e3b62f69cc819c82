import { describe, expect, it } from '@jest/globals';

import { LineTooLongError, MAX_LINE_BYTES, splitLines } from '../../../src/kubernetes/watch/watch-events.js';

async function lines(...chunks: readonly Uint8Array[]): Promise<readonly string[]> {
  async function* stream(): AsyncGenerator<Uint8Array> {
    for (const chunk of chunks) yield await Promise.resolve(chunk);
  }
  const all: string[] = [];
  for await (const line of splitLines(stream())) all.push(line);
  return all;
}

describe('splitLines', () => {
  it('returns the same lines wherever the stream is split', async () => {
    const bytes = Buffer.from('{"a":"ü"}\r\n\n{"b":"🐙"}\nlast');

    for (let cut = 0; cut <= bytes.length; cut += 1)
      expect(await lines(bytes.subarray(0, cut), bytes.subarray(cut))).toEqual(['{"a":"ü"}', '{"b":"🐙"}']);
  });

  it('drops a last line without a line break', async () => {
    expect(await lines(Buffer.from('one\ntw'))).toEqual(['one']);
  });

  it('accepts 8 MiB in one line and rejects one byte more', async () => {
    const longest = Buffer.alloc(MAX_LINE_BYTES, 'x');

    expect((await lines(longest, Buffer.from('\n')))[0]).toHaveLength(MAX_LINE_BYTES);
    await expect(lines(longest, Buffer.from('x\n'))).rejects.toThrow(LineTooLongError);
    await expect(lines(Buffer.concat([longest, Buffer.from('x')]))).rejects.toThrow(LineTooLongError);
  });
});
