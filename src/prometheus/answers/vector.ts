import { instantFromSeconds } from '../../units/time.js';
import type { Answer } from './answer.js';
import { LATEST_SECONDS, parseObject, parseSampleValue } from './classify.js';
import { SentLayout, type Series, SeriesColumns } from './columns.js';

/** An instant vector in columns, and the other members of the answer. */
export interface VectorReading {
  readonly layout: SentLayout;
  /** The values in the order of `layout`. They may be NaN or infinite. */
  readonly values: readonly number[];
  /** Evaluation time of the oldest value. */
  readonly seconds: number;
  /** The members of the answer besides `status` and `data`, such as warnings; null: there are none. */
  readonly rest: Readonly<Record<string, unknown>> | null;
}

export interface VectorBounds {
  readonly series: number;
  /** The maximum number of members and elements in the whole answer. */
  readonly items: number;
}

const START = '{"status":"success"';
/** A VictoriaMetrics cluster sends this member after the status. */
const NOT_PARTIAL = ',"isPartial":false';
const VECTOR = ',"data":{"resultType":"vector","result":[';
const HEAD = Buffer.from(START + VECTOR);
const NOT_PARTIAL_HEAD = Buffer.from(START + NOT_PARTIAL + VECTOR);
const ROW_HEAD = Buffer.from('{"metric":');
const PAIR_HEAD = Buffer.from(',"value":[');
const ROW_TAIL = Buffer.from('"]}');
const DATA_TAIL = Buffer.from('}');

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const SPACE = 0x20;

/** What counts toward `VectorBounds.items`: each element (without its labels), and the JSON around the elements. */
const ITEMS_OF_ROW = 6;
const ITEMS_AROUND = 16;
/** If the members after the data are longer, the JSON parser reads the answer, with its own limits. */
const MAX_REST_BYTES = 4096;
const MAX_NUMBER_BYTES = 512;

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * Reads the form in which all engines send an instant vector, without creating a string or an object for each series.
 * If the labels are the same as in the last answer, as in most rounds, returns its layout `known`. Null: the answer has
 * another form, has no series, or exceeds a bound; the caller then parses it as JSON, which takes about four times the
 * CPU time.
 */
export function readVector(
  body: Buffer,
  known: SentLayout | null,
  bounds: VectorBounds,
): VectorReading | null {
  return new VectorReader(body, bounds).read(known);
}

/**
 * Returns an answer for series that were read into columns. `why`: the reason why it may be incomplete; null: it is
 * complete. `series` is a getter that creates the objects when it is read first, because few callers need an object for
 * each series.
 */
export function columnAnswer({ layout, values, seconds }: VectorReading, why: string | null): Answer {
  const columns = new SeriesColumns(layout, values);
  const vector = {
    evaluatedAt: instantFromSeconds(seconds),
    columns,
    get series(): readonly Series[] {
      return columns.series;
    },
  };
  return why === null
    ? Object.assign(vector, { class: 'value' } as const)
    : Object.assign(vector, { class: 'partial', why } as const);
}

class VectorReader {
  readonly #body: Buffer;
  readonly #bounds: VectorBounds;
  readonly #values: number[] = [];
  /** For each row, the two positions in the body between which its labels are. */
  readonly #spans: number[] = [];
  readonly #counts: number[] = [];
  #at = 0;
  #seconds = Infinity;

  constructor(body: Buffer, bounds: VectorBounds) {
    this.#body = body;
    this.#bounds = bounds;
  }

  read(last: SentLayout | null): VectorReading | null {
    const hasPlainHead = this.#skip(HEAD);
    if (!hasPlainHead && !this.#skip(NOT_PARTIAL_HEAD)) return null;
    const body = this.#body;
    let row = 0;
    let items = ITEMS_AROUND;
    // The last layout, as long as all rows have its labels. If one series of each query changed in each round, reusing
    // the labels of the other rows would save 6 % of the CPU time of a round.
    let known = last;
    do {
      if (row >= this.#bounds.series || !this.#skip(ROW_HEAD)) return null;
      const from = this.#at;
      if (known !== null && !this.#skipKnown(row, known)) known = null;
      const count = known === null ? this.#readLabels() : (known.counts[row] ?? 0);
      if (count === null) return null;
      this.#spans.push(from, this.#at);
      this.#counts.push(count);
      items += ITEMS_OF_ROW + count;
      if (!this.#skip(PAIR_HEAD) || !this.#readTime() || !this.#readValue()) return null;
      row += 1;
    } while (body[this.#at++] === COMMA);
    if (body[this.#at - 1] !== CLOSE_BRACKET || items > this.#bounds.items) return null;
    const rest = this.#readRest(hasPlainHead);
    if (rest === undefined) return null;
    const layout = row === known?.count ? known : this.#newLayout();
    return { layout, values: this.#values, seconds: this.#seconds, rest };
  }

  #newLayout(): SentLayout {
    const spans = this.#spans;
    let size = 0;
    for (let at = 0; at < spans.length; at += 2) size += (spans[at + 1] ?? 0) - (spans[at] ?? 0) + 1;
    const bytes = Buffer.allocUnsafe(size);
    const ends = new Int32Array(this.#counts.length);
    let to = 0;
    for (let row = 0; row < ends.length; row += 1) {
      to += this.#body.copy(bytes, to, spans[2 * row], spans[2 * row + 1]);
      ends[row] = to;
      bytes[to++] = COMMA;
    }
    return new SentLayout(bytes, ends, Uint32Array.from(this.#counts));
  }

  #skip(text: Buffer): boolean {
    const body = this.#body;
    const at = this.#at;
    for (let index = 0; index < text.length; index += 1) if (body[at + index] !== text[index]) return false;
    this.#at = at + text.length;
    return true;
  }

  /** Skips the next labels in the answer if they equal the labels of this row. */
  #skipKnown(row: number, { bytes, ends }: SentLayout): boolean {
    const body = this.#body;
    let at = this.#at;
    const end = ends[row] ?? -1;
    if (end === -1) return false;
    for (let index = row === 0 ? 0 : (ends[row - 1] ?? 0) + 1; index < end; index += 1)
      if (bytes[index] !== body[at++]) return false;
    this.#at = at;
    return true;
  }

  /** Reads an object of strings and returns the number of its members; null: the next value is not such an object. */
  #readLabels(): number | null {
    const body = this.#body;
    const from = this.#at;
    let count = 0;
    if (body[this.#at++] !== OPEN_BRACE) return null;
    if (body[this.#at] === CLOSE_BRACE) this.#at += 1;
    else {
      let isEscaped = false;
      do {
        const name = this.#skipString();
        if (name === null || body[this.#at++] !== COLON) return null;
        const value = this.#skipString();
        if (value === null) return null;
        isEscaped ||= name || value;
        count += 1;
      } while (body[this.#at++] === COMMA);
      if (body[this.#at - 1] !== CLOSE_BRACE) return null;
      if (isEscaped && !isJson(body.toString('utf8', from, this.#at))) return null;
    }
    return count;
  }

  /** Skips a string and returns whether it contains an escape sequence; null: the next value is not a string. */
  #skipString(): boolean | null {
    const body = this.#body;
    const end = body.length;
    let at = this.#at;
    if (body[at++] !== QUOTE) return null;
    let isEscaped = false;
    for (; at < end; at += 1) {
      const byte = body[at] ?? 0;
      if (byte === QUOTE) {
        this.#at = at + 1;
        return isEscaped;
      }
      if (byte < SPACE) return null;
      if (byte === BACKSLASH) {
        isEscaped = true;
        at += 1;
      }
    }
    return null;
  }

  #readTime(): boolean {
    const from = this.#at;
    const to = this.#body.indexOf(COMMA, from);
    if (to === -1 || to - from > MAX_NUMBER_BYTES) return false;
    const text = this.#body.toString('latin1', from, to);
    const seconds = JSON_NUMBER.test(text) ? Number(text) : NaN;
    if (!(Math.abs(seconds) <= LATEST_SECONDS)) return false;
    this.#seconds = Math.min(this.#seconds, seconds);
    this.#at = to + 1;
    return true;
  }

  #readValue(): boolean {
    const body = this.#body;
    if (body[this.#at] !== QUOTE) return false;
    const from = this.#at + 1;
    const to = body.indexOf(QUOTE, from);
    if (to === -1 || to - from > MAX_NUMBER_BYTES) return false;
    const value = parseSampleValue(body.toString('latin1', from, to));
    if (value === null) return false;
    this.#values.push(value);
    this.#at = to;
    return this.#skip(ROW_TAIL);
  }

  /** Returns the members after `data`; null: there are none; undefined: the answer does not end correctly. */
  #readRest(hasPlainHead: boolean): VectorReading['rest'] | undefined {
    const body = this.#body;
    if (!this.#skip(DATA_TAIL)) return undefined;
    if (hasPlainHead && this.#at === body.length - 1 && body[this.#at] === CLOSE_BRACE) return null;
    if (body.length - this.#at > MAX_REST_BYTES) return undefined;
    const head = `${START}${hasPlainHead ? '' : NOT_PARTIAL},"data":0`;
    const rest = parseObject(head + body.toString('utf8', this.#at));
    // JSON parsers keep the last duplicate, so a second `data` or `status` in the rest is rejected.
    return rest?.['data'] === 0 && rest['status'] === 'success' ? rest : undefined;
  }
}

function isJson(text: string): boolean {
  return parseObject(text) !== null;
}
