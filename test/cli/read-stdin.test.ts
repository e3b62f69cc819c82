import { Readable } from 'node:stream';
import { expect, it } from '@jest/globals';
import { CommandError } from '../../src/cli/io.js';
import { readStdin } from '../../src/cli/read-stdin.js';

it('reads characters that are parted between two chunks', async () => {
  const bytes = Buffer.from('a😀b');

  expect(await readStdin(Readable.from([bytes.subarray(0, 3), bytes.subarray(3)]))).toBe('a😀b');
});

it('reads 4 bytes where 4 are allowed, and gives up on input without end', async () => {
  function* endless(): Generator<Uint8Array> {
    for (;;) yield Buffer.from('abc');
  }

  expect(await readStdin(Readable.from([Buffer.from('abcd')]), 4)).toBe('abcd');
  await expect(readStdin(Readable.from(endless()), 4)).rejects.toThrow(CommandError);
});
