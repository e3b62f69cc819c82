import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Scalar, parseDocument } from 'yaml';
import { formatProblem } from '../../src/scaler/problems/problem.js';
import { parseScaler } from '../../src/scaler/read/parse-scaler.js';
import { readScalers } from '../../src/scaler/read/read-scalers.js';
import { offsetInText } from '../../src/scaler/yaml/scalar-offset.js';
import { pathsOf, replaceAt } from '../support/value-paths.js';

const GOOD = {
  apiVersion: 'promscaler.dev/v1',
  kind: 'Scaler',
  metadata: { name: 'web', namespace: 'shop' },
  spec: {
    preset: 'chpa',
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
    minReplicas: 2,
    maxReplicas: 10,
    tolerance: '100m',
    schedules: [
      {
        name: 'day',
        start: '0 8 * * 1-5',
        end: '0 19 * * *',
        timeZone: 'Europe/Warsaw',
        minReplicas: 5,
        rampSeconds: 600,
        exceptions: ['2026-12-25'],
      },
      { name: 'sale', maxReplicas: 9, dates: [{ start: '2026-11-27', end: '2026-11-30T12:00' }] },
    ],
    downscaleConfirmation: { seconds: 60, decisions: 3 },
    maxScaleDownPercentPerWindow: 50,
    podWarmupSeconds: 60,
    behavior: { scaleUp: { policies: [{ type: 'Pods', value: 4, periodSeconds: 15 }], tolerance: 0 } },
    metrics: [
      {
        type: 'Resource',
        resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } },
      },
      { containerResource: { name: 'memory', container: 'app', targetAverageValue: '900Mi' } },
      {
        pods: {
          metric: { name: 'rps' },
          query: 'sum by (pod) (rps{pod=~"$pods"})',
          target: { averageValue: 50 },
        },
      },
      {
        object: {
          describedObject: { kind: 'Ingress', name: 'shop' },
          query: 'sum(x{ingress="$object"})',
          target: { value: '2k' },
          onMissing: 'zero',
        },
      },
      {
        external: {
          metric: { selector: { matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] } },
          query: 'sum by (a) (queue)',
          source: 'default',
          target: { type: 'AverageValue', averageValue: 30 },
          guard: 'count(up == 1) >= 1',
          freshness: { query: 'max(timestamp(queue))', maxAgeSeconds: 120 },
        },
      },
    ],
  },
};

const WRONG = fc.oneof(
  fc.constantFrom(
    undefined,
    null,
    0,
    -1,
    1.5,
    '',
    'x',
    [],
    {},
    [null],
    { a: 1 },
    true,
    2 ** 60,
    Infinity,
    NaN,
  ),
  fc.constantFrom('sum(', '$nope', '"', '*a', 'Pods', 'Value', '0', '1Ki', '-1', 'daemon-set'),
  fc.anything({ maxDepth: 3 }),
);

describe('parseScaler', () => {
  it('reads the complete document that the others are derived from', () => {
    expect(parseScaler(GOOD).problems.map(({ code }) => code)).toEqual(['missing-is-zero']);
  });

  it('returns a scaler or an error for any value, and never throws', () => {
    fc.assert(
      fc.property(fc.anything({ maxDepth: 4 }), (value) => {
        expect(parseScaler(value).scaler).toBeNull();
      }),
    );
  });

  it('returns a scaler or an error for a document with any values in any two places', () => {
    const place = fc.constantFrom(...pathsOf(GOOD));
    fc.assert(
      fc.property(place, WRONG, place, WRONG, (first, one, second, two) => {
        const once = replaceAt(GOOD, first, one);
        const isReachable = pathsOf(once).some((path) => path.join('/') === second.join('/'));
        const value = isReachable ? replaceAt(once, second, two) : once;

        const { scaler, problems } = parseScaler(value);

        if (scaler === null) expect(problems.some(({ severity }) => severity === 'error')).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});

describe('readScalers', () => {
  it('locates every problem of a document that is truncated or overwritten anywhere', () => {
    const text = JSON.stringify(GOOD, null, 2);
    fc.assert(
      fc.property(fc.nat(text.length), fc.nat(20), fc.string({ maxLength: 6 }), (at, length, by) => {
        const broken = text.slice(0, at) + by + text.slice(at + length);

        const { problems } = readScalers(broken, 'a.yaml');

        for (const problem of problems) {
          expect(problem.place).not.toBeNull();
          expect(formatProblem(problem)).toContain('a.yaml:');
        }
      }),
      { numRuns: 150 },
    );
  });
});

describe('offsetInText', () => {
  it.each([
    ['plain', 'q: sum(a) / sum(b)\n'],
    ['a plain scalar over lines', 'q: sum(a)\n  / sum(b)\n'],
    ['single quotes', "q: 'sum(a{x=''y''}) / sum(b)'\n"],
    ['double quotes', 'q: "sum(a{x=\\"y\\"})\\n\\t/ \\x73um(b)"\n'],
    ['a literal block', 'q: |\n  sum(a)\n    / sum(b)\n'],
    ['a folded block', 'q: >-\n    sum(a)\n\n    / sum(b)\n'],
    ['a block scalar with a comment after its indicator', 'q: | # sum(\n  sum(a) / sum(b)\n'],
  ])('locates each character of a query in %s', (_, text) => {
    const node = parseDocument(text).get('q', true);
    if (!(node instanceof Scalar)) throw new Error('no scalar');
    const value = String(node.value);

    for (const [index, character] of Array.from(value).entries()) {
      if (/\s/.test(character) || (text.includes('\\x73') && index > value.indexOf('/'))) continue;
      const found = text.slice(offsetInText(text, node, index)).replace(/^\\|^'(?=')/, '');
      expect(found.startsWith(character)).toBe(true);
    }
    expect(text.slice(0, offsetInText(text, node, value.length)).trimEnd()).toMatch(/\)$/);
  });
});
