import { deflateRawSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { readZipFile } from '../../../../src/cli/demo/programs/unpack-zip.js';
import { zipOf } from './archive-builder.js';

describe('readZipFile', () => {
  const contents = Buffer.from('kubectl '.repeat(1000));

  it.each(['deflated', 'stored'] as const)('reads a %s file after another', (method) => {
    const archive = zipOf({ 'helm/helm': Buffer.from('helm'), 'kubectl/kubectl': contents }, { method });

    expect(readZipFile(archive, 'kubectl/kubectl')).toEqual(contents);
  });

  it('finds its directory before a comment', () => {
    const archive = zipOf({ a: contents }, { method: 'deflated', comment: 'made on a Friday' });

    expect(readZipFile(archive, 'a')).toEqual(contents);
  });

  it('returns null for a missing file', () => {
    expect(readZipFile(zipOf({ a: contents }, { method: 'stored' }), 'b')).toBeNull();
  });

  it('throws for other input than zip', () => {
    expect(() => readZipFile(Buffer.alloc(100), 'a')).toThrow('this is not a zip file');
  });

  it('throws when the length of an unpacked file differs from the directory', () => {
    const archive = zipOf({ a: contents }, { method: 'deflated' });
    const shorter = deflateRawSync(contents.subarray(0, 100));
    shorter.copy(archive, 31);

    expect(() => readZipFile(archive, 'a')).toThrow('damaged: 100 bytes instead of 8000');
  });
});
