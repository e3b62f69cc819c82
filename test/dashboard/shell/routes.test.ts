import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { routeOf, scalerLink } from '../../../src/dashboard/ui/links.js';

describe('routeOf', () => {
  it.each([
    ['', { page: 'overview' }],
    ['#', { page: 'overview' }],
    ['#/?q=x/y', { page: 'overview' }],
    ['#/health', { page: 'health' }],
    ['#/scalers/shop/web?at=1', { page: 'scaler', namespace: 'shop', name: 'web' }],
    ['#/scalers/shop', { page: 'unknown' }],
    ['#/scalers/a/b/c', { page: 'unknown' }],
    ['#/scalers/%zz/web', { page: 'unknown' }],
    ['#/toString', { page: 'unknown' }],
  ])('reads %s', (hash, route) => {
    expect(routeOf(hash)).toEqual(route);
  });

  it('reads every link of a scaler', () => {
    const text = fc.string({ minLength: 1, unit: 'grapheme' });
    fc.assert(
      fc.property(text, text, (namespace, name) => {
        expect(routeOf(scalerLink(namespace, name))).toEqual({ page: 'scaler', namespace, name });
      }),
    );
  });
});
