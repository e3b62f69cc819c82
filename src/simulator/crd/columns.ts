import { type Json, type JsonObject, isList, isObject, stringAt } from '../json/json.js';

const STEP =
  /^\.([^.[\]\\]*(?:\\.[^.[\]\\]*)*)|^\[(\d+)\]|^\[\?\(@\.([\w.]+)\s*==\s*(["'])(.*?)\4\)\]|^\['([^']*)'\]/;

/**
 * Returns the values at a JSONPath. Supports the forms that CustomResourceDefinitions use: `.a.b`, `[0]`, `['a']`,
 * `[?(@.type=="Ready")]`. Empty if nothing exists there or the form is not supported.
 */
export function valuesAt(object: JsonObject, path: string): readonly Json[] {
  let found: readonly Json[] = [object];
  let rest = path;
  while (rest !== '') {
    const step = STEP.exec(rest);
    if (step === null) return [];
    const [whole, member, index, filtered, , wanted, quoted] = step;
    rest = rest.slice(whole.length);
    if (index !== undefined) found = found.flatMap((one) => (isList(one) ? present(one[Number(index)]) : []));
    else if (filtered !== undefined) {
      const items = found.flatMap((one) => (isList(one) ? one : []));
      found = items.filter((item) => stringAt(item, ...filtered.split('.')) === wanted);
    } else {
      const name = quoted ?? (member ?? '').replaceAll('\\.', '.');
      found = found.flatMap((one) => (isObject(one) ? present(one[name]) : []));
    }
  }
  return found;
}

/** Returns a list, because flatMap would flatten a value that is a list. */
function present(value: Json | undefined): readonly Json[] {
  return value === undefined ? [] : [value];
}

/** Returns the cell of a printer column: the first value, or null. */
export function printedCell(object: JsonObject, column: JsonObject): Json {
  const [value = null] = valuesAt(object, stringAt(column, 'jsonPath') ?? '');
  if (value === null) return null;
  const isNumber = column['type'] === 'integer' || column['type'] === 'number';
  if (isNumber) return typeof value === 'number' ? value : null;
  if (column['type'] === 'boolean') return typeof value === 'boolean' ? value : null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
