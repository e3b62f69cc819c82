import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Answer } from '../../../src/prometheus/answers/answer.js';
import { classifyAnswer, whyAnswerPartial } from '../../../src/prometheus/answers/classify.js';
import { columnAnswer, readVector, type VectorReading } from '../../../src/prometheus/answers/vector.js';
import type { SentLayout } from '../../../src/prometheus/answers/columns.js';

/* The reader of bytes may leave any answer to the JSON parser, but must never read another one than the parser. */

const BOUNDS = { series: 20_000, items: 500_000 };
const HEAD = '{"status":"success","data":{"resultType":"vector","result":[';

const read = (body: string, known: SentLayout | null = null, bounds = BOUNDS): VectorReading | null =>
  readVector(Buffer.from(body), known, bounds);

function answerOf({ rest, ...reading }: VectorReading): Answer {
  const answer = columnAnswer({ rest, ...reading }, rest === null ? null : whyAnswerPartial(rest));
  return 'columns' in answer ? { ...answer, columns: undefined } : answer;
}

const parsed = (body: string): Answer => classifyAnswer({ status: 200, contentType: null, body });

interface Row {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: string;
  readonly seconds: number;
}

const bodyOf = (rows: readonly Row[], end = '}'): string => {
  const result = rows.map(
    ({ labels, value, seconds }) =>
      `{"metric":${JSON.stringify(labels)},"value":[${seconds},${JSON.stringify(value)}]}`,
  );
  return `${HEAD}${result.join(',')}]}${end}`;
};

const text = fc.oneof(
  fc.constantFrom('web-1', 'web-10', 'shop', '', '"', '\\', '}', '","', 'é', '🦊', '\n', '__proto__'),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
);
const number = fc.oneof(
  fc.double({ noDefaultInfinity: true }).map(String),
  fc.double({ min: 0, max: 1000 }).map((value) => value.toFixed(6)),
  fc.integer().map(String),
  fc.constantFrom('0', '-0', '1.', '.5', '+1', 'NaN', '+Inf', '-Inf', '0.1', '1e+21', '9007199254740993'),
  fc.constantFrom('123456789012345', '1234567890123456', '0.000000000000001', '00000000000000001.5'),
);
const row: fc.Arbitrary<Row> = fc.record({
  labels: fc.dictionary(text, text, { maxKeys: 4 }),
  value: number,
  seconds: fc.constantFrom(1_767_225_600, 1_767_225_600.5, 1_767_225_600.123, 17_672_256_001),
});
const rows = fc.array(row, { minLength: 1, maxLength: 12 });

describe('readVector', () => {
  it('reads what the JSON parser reads, each number to the last bit', () => {
    fc.assert(
      fc.property(rows, (list) => {
        const body = bodyOf(list);
        const reading = read(body);

        expect(reading).not.toBeNull();
        expect(reading === null ? null : answerOf(reading)).toEqual(parsed(body));
      }),
    );
  });

  it('reads the same with the labels of any earlier answer, and returns their layout if none has changed', () => {
    fc.assert(
      fc.property(rows, rows, fc.nat(12), fc.nat(12), (before, fresh, from, count) => {
        const after = before.toSpliced(from, count, ...fresh);
        const known = read(bodyOf(before))?.layout ?? null;
        const reading = read(bodyOf(after), known);
        const again = read(bodyOf(after.map((one) => ({ ...one, value: '7' }))), reading?.layout ?? null);

        expect(reading === null ? null : answerOf(reading)).toEqual(parsed(bodyOf(after)));
        expect([...(reading?.layout.counts ?? [])]).toEqual(
          after.map(({ labels }) => Object.keys(labels).length),
        );
        expect(again?.layout).toBe(reading?.layout);
      }),
    );
  });

  it('never reads a damaged answer as another one than the parser', () => {
    const damage = fc.record({
      at: fc.nat(400),
      removed: fc.nat(3),
      added: fc.oneof(
        fc.constantFrom('"', '\\', ',', '{', '}', '[', ']', '0', '.', '-', 'e', ' ', ':', '\0', '\n'),
        fc.string({ maxLength: 3 }),
      ),
    });
    fc.assert(
      fc.property(
        rows,
        fc.array(damage, { minLength: 1, maxLength: 3 }),
        fc.boolean(),
        (list, all, isKnown) => {
          const whole = bodyOf(list, ',"stats":{"seriesFetched": "1"}}');
          const known = isKnown ? (read(whole)?.layout ?? null) : null;
          const body = all.reduce(
            (left, { at, removed, added }) => left.slice(0, at) + added + left.slice(at + removed),
            whole,
          );
          const reading = read(body, known);
          if (reading === null) return;

          // Half of a surrogate pair does not survive the encoding.
          expect(answerOf(reading)).toEqual(parsed(Buffer.from(body).toString()));
        },
      ),
      { numRuns: 2000 },
    );
  });

  const one = '{"metric":{"pod":"a"},"value":[1,"1"]}';

  it.each([
    ['no series', `${HEAD}]}}`],
    ['an error', '{"status":"error"}'],
    ['spaces', `${HEAD} ${one}]}}`],
    ['a label that is not a string', `${HEAD}{"metric":{"pod":1},"value":[1,"1"]}]}}`],
    ['a label with a broken escape sequence', `${HEAD}{"metric":{"pod":"\\x"},"value":[1,"1"]}]}}`],
    ['a label with a raw control character', `${HEAD}{"metric":{"pod":"\n"},"value":[1,"1"]}]}}`],
    ['a native histogram', `${HEAD}{"metric":{},"histogram":[1,{}]}]}}`],
    ['a value without a number', `${HEAD}{"metric":{},"value":[1,""]}]}}`],
    ['a value that is no string', `${HEAD}{"metric":{},"value":[1,1]}]}}`],
    ['a time after the year 9999', `${HEAD}{"metric":{},"value":[253402300800,"1"]}]}}`],
    ['a time that is not JSON', `${HEAD}{"metric":{},"value":[01,"1"]}]}}`],
    ['a second "data"', `${HEAD}${one}]},"data":{"resultType":"vector","result":[]}}`],
    ['another status at the end', `${HEAD}${one}]},"status":"error"}`],
    ['isPartial', `{"status":"success","isPartial":true,${HEAD.slice(20)}${one}]}}`],
    ['its end missing', `${HEAD}${one}]}`],
    ['something after it', `${HEAD}${one}]}}}`],
    ['long members at the end', `${HEAD}${one}]},"x":"${'x'.repeat(4096)}"}`],
  ])('leaves an answer with %s to the parser', (_what, body) => {
    expect(read(body)).toBeNull();
  });

  it.each([
    ['Prometheus', `${HEAD}${one}]}}`, 'value'],
    ['Prometheus, with a warning', `${HEAD}${one}]},"warnings":["store down"]}`, 'partial'],
    ['Prometheus, with an info', `${HEAD}${one}]},"infos":["PromQL info: x"]}`, 'value'],
    ['VictoriaMetrics', `${HEAD}${one}]},"stats":{"seriesFetched": "1"}}`, 'value'],
    ['its cluster', `{"status":"success","isPartial":false,${HEAD.slice(20)}${one}]}}`, 'value'],
    ['a server that ends it with a line break', `${HEAD}${one}]}}\n`, 'value'],
  ])('reads the form of %s', (_who, body, expected) => {
    const reading = read(body);

    expect(reading === null ? null : answerOf(reading)).toMatchObject({
      class: expected,
      series: [{ labels: { pod: 'a' }, value: 1 }],
    });
  });

  it('leaves more series than allowed to the parser, and more labels', () => {
    const body = `${HEAD}${one},${one},${one}]}}`;

    expect(read(body, null, { ...BOUNDS, series: 3 })).not.toBeNull();
    expect(read(body, null, { ...BOUNDS, series: 2 })).toBeNull();
    expect(read(body, null, { ...BOUNDS, items: 37 })).not.toBeNull();
    expect(read(body, null, { ...BOUNDS, items: 36 })).toBeNull();
    const known = read(body)?.layout ?? null;
    expect(read(body, known, { ...BOUNDS, items: 36 })).toBeNull();
  });
});
