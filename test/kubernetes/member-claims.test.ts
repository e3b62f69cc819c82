import { describe, expect, it } from '@jest/globals';
import { readAddress, readBuckets, writeBuckets } from '../../src/kubernetes/member-leases.js';

const ALL = [...Array(16).keys()];

describe('the buckets of a member', () => {
  it('are written in order and read again', () => {
    expect(writeBuckets([15, 3, 0])).toBe('0,3,15');
    expect(readBuckets('0,3,15')).toEqual([0, 3, 15]);
  });

  it.each([[null], ['']])('are none for %j', (text) => {
    expect(readBuckets(text)).toEqual([]);
  });

  it.each(['16', '-1', '0,,3', '0 3', 'all', '0,3,x'])('are all of them for the invalid %j', (text) => {
    expect(readBuckets(text)).toEqual(ALL);
  });
});

describe('the address of a member', () => {
  it.each(['http://10.0.0.1:8080', 'http://[fd00::1]:8080'])('may be %s', (text) => {
    expect(readAddress(text)).toBe(text);
  });

  it.each([
    null,
    'https://10.0.0.1:8080',
    'http://metadata.internal:80',
    'http://10.0.0.1:8080/path',
    'http://user@10.0.0.1:8080',
    `http://${'1'.repeat(200)}:80`,
  ])('is unknown for %j', (text) => {
    expect(readAddress(text)).toBeNull();
  });
});
