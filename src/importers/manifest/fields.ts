import { formatValue, type Path } from '../../scaler/problems/finding.js';
import { didYouMean } from '../../scaler/problems/nearest.js';
import { isPlainObject, type PlainObject } from '../../scaler/plain-json.js';
import { parseQuantity } from '../../units/quantity.js';
import type { RemarkLog } from '../draft/draft.js';

/**
 * An object of a manifest. Each method reads a field, and returns undefined if it is unset. If the field has the wrong
 * type, the method also adds a remark. `rest` adds a remark for each field that was not read.
 */
export interface Fields {
  readonly path: Path;
  readonly value: PlainObject;
  readonly log: RemarkLog;
  /** Returns the same object, but with all comments at `draftPath` of the scaler document. */
  readonly at: (draftPath: Path) => Fields;
  readonly has: (key: string) => boolean;
  readonly raw: (key: string) => unknown;
  readonly text: (key: string) => string | undefined;
  readonly integer: (key: string) => number | undefined;
  readonly number: (key: string) => number | undefined;
  readonly flag: (key: string) => boolean | undefined;
  readonly quantity: (key: string) => string | number | undefined;
  readonly object: (key: string) => Fields | undefined;
  /** Reads a required object. If it is missing, adds a remark of the kind `loss`. */
  readonly required: (key: string) => Fields | undefined;
  readonly list: (key: string) => readonly Fields[] | undefined;
  /** Marks fields as read, because they mean nothing in a scaler document. */
  readonly skip: (...keys: readonly string[]) => void;
  readonly rest: () => void;
}

interface FieldOptions {
  /** Whether the case of keys is ignored, as Go does for the JSON in annotations. Default: false. */
  readonly isCaseless?: boolean;
}

/** Returns the fields of an object. If the value is not an object, adds a remark and returns null. */
export function readFields(
  value: unknown,
  path: Path,
  log: RemarkLog,
  options: FieldOptions = {},
): Fields | null {
  if (!isPlainObject(value)) {
    log.lose(path, `is ${formatValue(value)}, must be an object; the field is not carried over`);
    return null;
  }
  return fieldsOf(value, path, { log, options });
}

interface Rest {
  readonly log: RemarkLog;
  readonly options: FieldOptions;
}

function fieldsOf(given: PlainObject, path: Path, { log, options }: Rest): Fields {
  const value = options.isCaseless === true ? withLowerKeys(given) : given;
  const seen = new Set<string>();
  const raw = (key: string): unknown => {
    seen.add(key);
    return Object.hasOwn(value, key) ? value[key] : undefined;
  };
  const readAs = <T>(key: string, rule: string, read: (found: unknown) => T | undefined): T | undefined => {
    const found = raw(key);
    if (found === undefined) return undefined;
    const result = read(found);
    if (result === undefined)
      log.lose([...path, key], `is ${formatValue(found)}, must be ${rule}; the field is not carried over`);
    return result;
  };
  const object: Fields['object'] = (key) =>
    readAs(key, 'an object', (found) =>
      isPlainObject(found) ? fieldsOf(found, [...path, key], { log, options }) : undefined,
    );
  return {
    path,
    value,
    log,
    at: (draftPath) => fieldsOf(value, path, { log: log.at(draftPath), options }),
    has: (key) => Object.hasOwn(value, key),
    raw,
    text: (key) => readAs(key, 'a string', (found) => (typeof found === 'string' ? found : undefined)),
    integer: (key) =>
      readAs(key, 'an integer', (found) => (Number.isSafeInteger(found) ? Number(found) : undefined)),
    number: (key) => readAs(key, 'a number', (found) => (typeof found === 'number' ? found : undefined)),
    flag: (key) => readAs(key, 'true or false', (found) => (typeof found === 'boolean' ? found : undefined)),
    quantity: (key) => readAs(key, 'a quantity', readQuantity),
    object,
    required: (key) => {
      const found = object(key);
      if (found === undefined) log.lose([...path, key], 'is missing');
      return found;
    },
    list: (key) =>
      readAs(key, 'a list', (found) =>
        Array.isArray(found)
          ? found.flatMap((item: unknown, index) => {
              const fields = readFields(item, [...path, key, index], log, options);
              return fields === null ? [] : [fields];
            })
          : undefined,
      ),
    skip: (...keys) => {
      for (const key of keys) seen.add(key);
    },
    rest: () => {
      const known = [...seen];
      for (const key of Object.keys(value))
        if (!seen.has(key))
          log.lose(
            [...path, key],
            `is not a known field${didYouMean(key, known)}; the field is not carried over`,
          );
    },
  };
}

function withLowerKeys(value: PlainObject): PlainObject {
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key.charAt(0).toLowerCase() + key.slice(1), member]),
  );
}

/**
 * Returns a quantity. Undefined: the value is not a quantity. A string that contains an integer is converted to a
 * number.
 */
export function readQuantity(found: unknown): string | number | undefined {
  if (typeof found === 'number') return Number.isFinite(found) ? found : undefined;
  if (typeof found !== 'string' || parseQuantity(found.trim()) === null) return undefined;
  const text = found.trim();
  return /^(?:0|[1-9]\d{0,14})$/.test(text) ? Number(text) : text;
}
