import fc from 'fast-check';

/** Building blocks of hostile input for one parser. */
export interface Material {
  /** Tokens of the parser's language. */
  readonly tokens: readonly string[];
  /** Brackets that nest, opening and closing. */
  readonly pairs: readonly (readonly [string, string])[];
  /** Valid inputs, which are truncated, repeated and overwritten. */
  readonly good: readonly string[];
}

const LONGEST = 65_536;
const FOREIGN = [
  '\0',
  '\u2028',
  '\ufeff',
  '😀',
  '\ud800',
  '__proto__',
  'constructor',
  '-0',
  '1e999',
  ' ',
] as const;

/** Generates deep, long, repeated, truncated and mixed texts; one in ten is as long as the longest query, 64 KiB. */
export function hostileText({ tokens, pairs, good }: Material): fc.Arbitrary<string> {
  const token = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...tokens) },
    { weight: 1, arbitrary: fc.constantFrom(...FOREIGN) },
    { weight: 1, arbitrary: fc.string({ maxLength: 5 }) },
  );
  const length = fc.oneof(
    { weight: 6, arbitrary: fc.nat(500) },
    { weight: 3, arbitrary: fc.integer({ min: 500, max: 8000 }) },
    { weight: 1, arbitrary: fc.constant(LONGEST) },
  );
  const repeated = fc
    .tuple(fc.array(token, { minLength: 1, maxLength: 3 }), length)
    .map(([parts, size]) => fill(parts.join(''), size));
  const nested = fc
    .tuple(fc.constantFrom(...pairs), token, length, fc.boolean())
    .map(([[open, close], core, size, isClosed]) => {
      const depth = Math.max(1, Math.floor(size / (open.length + close.length)));
      return open.repeat(depth) + core + (isClosed ? close.repeat(depth) : '');
    });
  const soup = fc.array(token, { maxLength: 200 }).map((parts) => parts.join(''));
  const mutated = fc
    .tuple(fc.constantFrom(...good), fc.nat(), fc.nat(30), token, fc.integer({ min: 1, max: 500 }))
    .map(([text, at, gone, by, times]) => {
      const from = at % (text.length + 1);
      return text.slice(0, from) + by.repeat(times) + text.slice(from + gone);
    });
  return fc.oneof(repeated, nested, soup, mutated);
}

function fill(part: string, size: number): string {
  return part === '' ? '' : part.repeat(Math.ceil(size / part.length)).slice(0, size);
}
