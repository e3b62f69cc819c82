import type { JsonBounds } from '../../units/json-bounds.js';

/**
 * Which members of an object are read; `true`: all of them, at any depth. For an array, the fields apply to each
 * element.
 */
export type JsonFields = true | { readonly [name: string]: JsonFields };

/** The shortened JSON, or in `excess` why it must not be parsed. */
export type Pruned = { readonly text: string } | { readonly excess: string };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * Returns the JSON with only the members in `fields`; null: the bytes are not JSON. Without managedFields and other
 * long members of a pod, parsing takes a quarter of the time and memory. `bounds` also count the dropped members, whose
 * syntax is checked only roughly.
 */
export function pruneJson(bytes: Uint8Array, fields: JsonFields, bounds: JsonBounds): Pruned | null {
  const pruner = new Pruner(bytes, bounds);
  return pruner.run(tableOf(fields));
}

/** The fields to keep, by the hash of their name. `true`: all members. */
type Table = true | ReadonlyMap<number, { readonly name: Uint8Array; readonly table: Table }>;

const tables = new WeakMap<object, Table>();

function tableOf(fields: JsonFields): Table {
  if (fields === true) return true;
  const known = tables.get(fields);
  if (known !== undefined) return known;
  const table = new Map<number, { readonly name: Uint8Array; readonly table: Table }>();
  for (const [text, below] of Object.entries(fields)) {
    const name = new TextEncoder().encode(text);
    const hash = hashOf(name, 0, name.length);
    if (table.has(hash)) throw new Error(`two fields with the same hash: ${text}`);
    table.set(hash, { name, table: tableOf(below) });
  }
  tables.set(fields, table);
  return table;
}

function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0;
  for (let index = start; index < end; index += 1) hash = (Math.imul(hash, 31) + (bytes[index] ?? 0)) | 0;
  return hash;
}

class Pruner {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  readonly #bounds: JsonBounds;
  readonly #kept: Uint8Array;
  #index = 0;
  #length = 0;
  #depth = 0;
  #items = 0;
  #excess: string | null = null;
  /** Whether the last string contains a backslash. */
  #hasEscape = false;

  constructor(bytes: Uint8Array, bounds: JsonBounds) {
    this.#bytes = bytes;
    this.#end = bytes.length;
    this.#bounds = bounds;
    this.#kept = new Uint8Array(bytes.length);
  }

  run(table: Table): Pruned | null {
    const isWhole = this.#value(table) && this.#byte() === undefined;
    if (this.#excess === null && this.#items > this.#bounds.items)
      this.#excess = `more than ${this.#bounds.items} array elements and object members`;
    if (this.#excess !== null) return { excess: this.#excess };
    return isWhole ? { text: new TextDecoder().decode(this.#kept.subarray(0, this.#length)) } : null;
  }

  /** Reads a value. Like the methods below, returns false if the JSON is invalid or ends too early. */
  #value(table: Table): boolean {
    const byte = this.#byte();
    if (table !== true && byte === OPEN_BRACE) return this.#object(table);
    if (table !== true && byte === OPEN_BRACKET) return this.#array(table);
    const start = this.#index;
    return this.#skip() && this.#keep(start, this.#index);
  }

  #object(table: Exclude<Table, true>): boolean {
    if (!this.#open(OPEN_BRACE)) return false;
    let isFirst = true;
    if (this.#byte() === CLOSE_BRACE) return this.#close(CLOSE_BRACE);
    for (;;) {
      if (this.#byte() !== QUOTE) return false;
      const start = this.#index;
      if (!this.#skipString()) return false;
      const end = this.#index;
      // A name with an escape may stand for any name, so its value is kept.
      const field = this.#hasEscape ? true : this.#find(table, start + 1, end - 1);
      if (this.#byte() !== COLON) return false;
      this.#index += 1;
      if (field === undefined) {
        this.#byte();
        if (!this.#skip()) return false;
      } else {
        if (!isFirst) this.#emit(COMMA);
        isFirst = false;
        this.#keep(start, end);
        this.#emit(COLON);
        if (!this.#value(field)) return false;
      }
      const next = this.#byte();
      if (next === CLOSE_BRACE) return this.#close(CLOSE_BRACE);
      if (next !== COMMA) return false;
      this.#index += 1;
      this.#items += 1;
    }
  }

  #array(table: Exclude<Table, true>): boolean {
    if (!this.#open(OPEN_BRACKET)) return false;
    if (this.#byte() === CLOSE_BRACKET) return this.#close(CLOSE_BRACKET);
    for (;;) {
      if (!this.#value(table)) return false;
      const next = this.#byte();
      if (next === CLOSE_BRACKET) return this.#close(CLOSE_BRACKET);
      if (next !== COMMA) return false;
      this.#index += 1;
      this.#items += 1;
      this.#emit(COMMA);
    }
  }

  #open(byte: number): boolean {
    this.#index += 1;
    this.#emit(byte);
    return this.#deeper();
  }

  #close(byte: number): boolean {
    this.#index += 1;
    this.#depth -= 1;
    this.#emit(byte);
    return true;
  }

  #deeper(): boolean {
    this.#depth += 1;
    this.#items += 1;
    if (this.#depth <= this.#bounds.depth) return true;
    this.#excess = `more than ${this.#bounds.depth} levels of arrays and objects`;
    return false;
  }

  #find(table: Exclude<Table, true>, start: number, end: number): Table | undefined {
    const field = table.get(hashOf(this.#bytes, start, end));
    if (field === undefined || field.name.length !== end - start) return undefined;
    for (let index = 0; index < field.name.length; index += 1)
      if (field.name[index] !== this.#bytes[start + index]) return undefined;
    return field.table;
  }

  /** Skips whitespace and returns the next byte; undefined: the JSON ends. */
  #byte(): number | undefined {
    let byte = this.#bytes[this.#index];
    while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
      this.#index += 1;
      byte = this.#bytes[this.#index];
    }
    return byte;
  }

  /** Skips a value without recursion, because a value may be nested deeply. */
  #skip(): boolean {
    const bytes = this.#bytes;
    const end = this.#end;
    const start = this.#index;
    const outer = this.#depth;
    while (this.#index < end) {
      switch (bytes[this.#index]) {
        case QUOTE:
          if (!this.#skipString()) return false;
          if (this.#depth === outer) return true;
          break;
        case OPEN_BRACKET:
        case OPEN_BRACE:
          this.#index += 1;
          if (!this.#deeper()) return false;
          break;
        case CLOSE_BRACKET:
        case CLOSE_BRACE:
          // A number, `true`, `false` or `null` also ends where the surrounding object or array ends.
          if (this.#depth === outer) return this.#index > start;
          this.#index += 1;
          this.#depth -= 1;
          if (this.#depth === outer) return true;
          break;
        case COMMA:
          if (this.#depth === outer) return this.#index > start;
          this.#index += 1;
          this.#items += 1;
          break;
        default:
          this.#index += 1;
      }
    }
    return this.#depth === outer && this.#index > start;
  }

  #skipString(): boolean {
    const bytes = this.#bytes;
    const end = this.#end;
    let index = this.#index + 1;
    this.#hasEscape = false;
    while (index < end) {
      const byte = bytes[index++];
      if (byte === QUOTE) {
        this.#index = index;
        return true;
      }
      if (byte !== BACKSLASH) continue;
      this.#hasEscape = true;
      index += 1;
    }
    return false;
  }

  #emit(byte: number): void {
    this.#kept[this.#length++] = byte;
  }

  #keep(start: number, end: number): boolean {
    const bytes = this.#bytes;
    const kept = this.#kept;
    let length = this.#length;
    for (let index = start; index < end; index += 1) kept[length++] = bytes[index] ?? 0;
    this.#length = length;
    return true;
  }
}
