import { Writable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { lossyOutput } from '../../../src/cli/output/io.js';

const MIB = 1024 * 1024;

/** A stream whose test decides when, and how, each write ends. */
function slowStream(): {
  readonly stream: Writable;
  readonly written: string[];
  readonly finish: () => void;
} {
  const written: string[] = [];
  let finish = (): void => undefined;
  const stream = new Writable({
    write: (chunk: Buffer, _, done) => {
      written.push(chunk.toString());
      finish = done;
    },
  });
  return { stream, written, finish: () => finish() };
}

describe('lossyOutput', () => {
  it('writes everything through', () => {
    const { stream, written } = slowStream();

    lossyOutput(stream)('a\n');

    expect(written).toEqual(['a\n']);
  });

  it('keeps 1 MiB for a reader that does not read, and not a byte more', () => {
    const { stream } = slowStream();
    const write = lossyOutput(stream);
    write('x'.repeat(MIB - 1));

    write('x');
    expect(stream.writableLength).toBe(MIB);
    write('x');
    expect(stream.writableLength).toBe(MIB);
  });

  it('continues when the reader does', () => {
    const { stream, written, finish } = slowStream();
    const write = lossyOutput(stream);
    write('x'.repeat(MIB));
    write('lost\n');

    finish();
    write('kept\n');

    expect(written.slice(1)).toEqual(['kept\n']);
  });

  it('survives a failed write', async () => {
    const stream = new Writable({
      autoDestroy: false,
      write: (_, __, done) => done(new Error('ENOSPC')),
    });
    const failed = new Promise((resolve) => stream.once('error', resolve));

    lossyOutput(stream)('a\n');

    await expect(failed).resolves.toThrow('ENOSPC');
  });
});
