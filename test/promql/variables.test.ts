import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readStringLiteral } from '../../src/promql/quoting.js';
import { splitSegments } from '../../src/promql/segments.js';
import { checkSyntax } from '../../src/promql/syntax.js';
import { listVariables, substitute } from '../../src/promql/variables.js';

/** Returns the contents of the string literals of a query, in order. */
function literals(query: string): readonly string[] {
  return splitSegments(query)
    .filter(({ kind }) => kind === 'string')
    .map(({ from, to }) => readStringLiteral(query.slice(from, to)));
}

/** Returns the code outside of string literals. */
function skeleton(query: string): string {
  return splitSegments(query)
    .map(({ kind, from, to }) => (kind === 'string' ? '""' : query.slice(from, to)))
    .join('');
}

const hostile = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(fc.constantFrom('"', "'", '`', '\\', '\n', '}', ')', '$name', '|', '.', '#', ' or ', 'a', '\\x22'))
    .map((parts) => parts.join('')),
);

describe('listVariables', () => {
  it('lists strings and code with their offsets, and skips comments and $1', () => {
    const query = 'x{a="$name"}[$window] # $no\n + label_replace(y, "a", "$1", "b", "(.*)$")';

    expect(listVariables(query)).toEqual([
      { name: 'name', offset: 5 },
      { name: 'window', offset: 13 },
    ]);
  });

  it('lists 300,000 variables in one pass', () => {
    const query = '$a '.repeat(300_000);

    expect(listVariables(query)).toHaveLength(300_000);
    expect(substitute(query, { a: '1' })).toBe('"1" '.repeat(300_000));
    expect(listVariables(`"${query}${'\\\\'.repeat(300_000)}$b"`).at(-1)?.name).toBe('b');
  });

  it('reads a variable with the longest name', () => {
    expect(listVariables('x{a="$namespaces-$names"}').map(({ name }) => name)).toEqual([
      'namespaces',
      'names',
    ]);
  });

  it('reads an escaped dollar as a dollar', () => {
    expect(listVariables('x{a="\\$name", b=~"\\\\$name", c=~`\\$name`}')).toEqual([]);
    expect(listVariables('x{a="\\\\$name", b=~"\\\\\\\\$name", c=`\\$name`}')).toHaveLength(3);
  });
});

describe('substitute', () => {
  it('writes a name unchanged right of = and quoted for RE2 right of =~ and !~', () => {
    const query = 'x{a="$name", b=~"$name-.*", c!~\'$name\', d =~ `$name`}';

    expect(substitute(query, { name: 'a.b' })).toBe(
      'x{a="a.b", b=~"a\\\\.b-.*", c!~\'a\\\\.b\', d =~ `a\\.b`}',
    );
  });

  it('writes $pods and $namespaces as regular expressions right of =~', () => {
    const values = { pods: 'web-[0-9]+', namespaces: 'a|b\\.c' };

    expect(substitute('x{p=~"$pods", n=~"$namespaces", m=~"x-$namespaces"}', values)).toBe(
      'x{p=~"web-[0-9]+", n=~"a|b\\\\.c", m=~"x-(?:a|b\\\\.c)"}',
    );
  });

  it('writes a duration where one is expected', () => {
    const query = 'rate(x[$window]) + max_over_time(y[$window:30s]) + z offset $window';

    expect(substitute(query, { window: '120s' })).toBe(
      'rate(x[120s]) + max_over_time(y[120s:30s]) + z offset 120s',
    );
  });

  it('writes a range that is not a duration as a string, which the server rejects', () => {
    expect(substitute('x[$window]', { window: '5m]) or vector(1e9) #' })).toBe('x["5m]) or vector(1e9) #"]');
  });

  it('writes a value outside of a string as a string', () => {
    expect(substitute('x{a=$name, b=~$pods, c=~$name}', { name: 'a.b', pods: 'w-.*' })).toBe(
      'x{a="a.b", b=~"w-.*", c=~"a\\\\.b"}',
    );
  });

  it('changes a backtick literal to double quotes only if the value has a backtick', () => {
    expect(substitute('x{a=`\\d"$name`}', { name: 'b' })).toBe('x{a=`\\d"b`}');
    expect(substitute('x{a=`\\d"$name`}', { name: '`' })).toBe('x{a="\\\\d\\"`"}');
  });

  it('leaves comments and variables without a value as written', () => {
    expect(substitute('x{a="$other"} # $name', { name: 'b' })).toBe('x{a="$other"} # $name');
    expect(substitute('x{a="$toString"}', {})).toBe('x{a="$toString"}');
  });

  it('does not replace variables within values', () => {
    expect(substitute('x{a="$name"}', { name: '$object', object: 'no' })).toBe('x{a="$object"}');
  });

  it.each(['"', "'", '`'])('keeps any value inside of %s', (quote) => {
    fc.assert(
      fc.property(hostile, (name) => {
        const query = `x{a=${quote}<$name>${quote}, b="end"}`;

        const result = substitute(query, { name });

        expect(skeleton(result)).toBe('x{a="", b=""}');
        expect(literals(result)).toEqual([`<${name}>`, 'end']);
        expect(checkSyntax(result)).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it.each(['"', "'", '`'])(
    'makes a regular expression that matches exactly the value inside of %s',
    (quote) => {
      fc.assert(
        fc.property(hostile, (name) => {
          const result = substitute(`x{a=~${quote}$name${quote}}`, { name });

          expect(skeleton(result)).toBe('x{a=~""}');
          expect(new RegExp(`^(?:${literals(result)[0] ?? ''})$`).test(name)).toBe(true);
        }),
        { numRuns: 300 },
      );
    },
  );

  it('writes any value outside of a string as one string or one duration', () => {
    fc.assert(
      fc.property(hostile, (name) => {
        expect(skeleton(substitute('x{a=$name}', { name }))).toBe('x{a=""}');
        expect(skeleton(substitute('x[$name]', { name }))).toMatch(/^x\[(?:""|\d+[a-z0-9]+)\]$/);
      }),
      { numRuns: 300 },
    );
  });
});
