import { PassThrough, Readable } from 'node:stream';
import { expect, it } from '@jest/globals';
import { CommandError, readStdin } from '../../../src/cli/output/io.js';

const GOES_ON = new AbortController().signal;

it('joins characters that are split between two chunks', async () => {
  const bytes = Buffer.from('a😀b');

  expect(await readStdin(Readable.from([bytes.subarray(0, 3), bytes.subarray(3)]), GOES_ON)).toBe('a😀b');
});

it('reads 4 bytes if 4 are allowed, and stops at input without end', async () => {
  function* endless(): Generator<Uint8Array> {
    for (;;) yield Buffer.from('abc');
  }

  expect(await readStdin(Readable.from([Buffer.from('abcd')]), GOES_ON, 4)).toBe('abcd');
  await expect(readStdin(Readable.from(endless()), GOES_ON, 4)).rejects.toThrow(CommandError);
});

it('ends when it is interrupted, before and during a wait for input', async () => {
  const stop = new AbortController();
  const silent = new PassThrough();
  const reading = readStdin(silent, stop.signal);
  stop.abort();

  await expect(reading).rejects.toThrow(new CommandError('reading standard input: interrupted'));
  await expect(readStdin(new PassThrough(), stop.signal)).rejects.toThrow('interrupted');
  expect(silent.destroyed).toBe(true);
});
