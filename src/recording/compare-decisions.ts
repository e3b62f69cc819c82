import { isPlainObject } from '../scaler/plain-json.js';

/** A value that differs between two decisions on the same snapshot. Undefined: the member is missing. */
export interface Difference {
  /** Path of the value, such as `limits[0].limit`. */
  readonly field: string;
  readonly then: unknown;
  readonly now: unknown;
}

/** Strings for people. They may change between versions. Source: contract.md section 8. */
const WORDING =
  /^(?:reason|limits\[\d+\]\.reason|conditions\[\d+\]\.message|forecast\.why|metrics\[\d+\]\.(?:error|partial|podReasons\..*)|state\.holdReason)$/;

/** Compares two decisions as JSON. Returns the differences, with those of wording in a list of their own. */
export function compareDecisions(
  then: unknown,
  now: unknown,
): { readonly differences: readonly Difference[]; readonly wording: readonly Difference[] } {
  const found: Difference[] = [];
  compare('', { then, now }, found);
  const isWording = ({ field, then, now }: Difference): boolean =>
    typeof then === 'string' && typeof now === 'string' && WORDING.test(field);
  return { differences: found.filter((each) => !isWording(each)), wording: found.filter(isWording) };
}

function compare(field: string, { then, now }: Omit<Difference, 'field'>, found: Difference[]): void {
  if (Object.is(then, now)) return;
  if (Array.isArray(then) && Array.isArray(now)) {
    const length = Math.max(then.length, now.length);
    for (let index = 0; index < length; index += 1)
      compare(`${field}[${index}]`, { then: then[index] as unknown, now: now[index] as unknown }, found);
    return;
  }
  if (isPlainObject(then) && isPlainObject(now)) {
    for (const name of new Set([...Object.keys(then), ...Object.keys(now)]))
      compare(field === '' ? name : `${field}.${name}`, { then: then[name], now: now[name] }, found);
    return;
  }
  found.push({ field, then, now });
}
