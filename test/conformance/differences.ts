import { type Json, type JsonObject, isList, isObject } from '../../src/simulator/kinds/json.js';

/** Fields that may differ between two servers, or two runs of one: identities, times, versions and prose. */
const VOLATILE: ReadonlySet<string> = new Set([
  ...['uid', 'resourceVersion', 'creationTimestamp', 'deletionTimestamp', 'managedFields', 'time'],
  ...['lastTransitionTime', 'lastUpdateTime', 'lastScaleTime', 'acquireTime', 'renewTime'],
  ...['firstTimestamp', 'lastTimestamp', 'startTime', 'message', 'token', 'expirationTimestamp'],
  ...['continue', 'remainingItemCount', 'storageVersionHash', 'age', 'evaluationError'],
  ...['detail', 'gitVersion', 'gitCommit', 'gitTreeState', 'buildDate', 'goVersion', 'platform'],
  ...['minor', 'major'],
]);

/** Volatile fields that clients depend on: they must be there if they are recorded. */
const NEEDED: ReadonlySet<string> = new Set(['message', 'uid', 'resourceVersion']);

/** Returns where two answers differ in shape, as `PATH: WHAT`; empty if they agree. */
export function differences(want: Json | undefined, have: Json | undefined, path = ''): readonly string[] {
  if (isList(want) && isList(have)) {
    if (want.length !== have.length)
      return [`${path || '.'}: recorded ${want.length} items, here ${have.length}`];
    return want.flatMap((value, index) => differences(value, have[index], `${path}[${index}]`));
  }
  if (isObject(want) && isObject(have)) return memberDifferences(want, have, path);
  return want === have ? [] : [`${path || '.'}: recorded ${shown(want)}, here ${shown(have)}`];
}

function memberDifferences(want: JsonObject, have: JsonObject, path: string): readonly string[] {
  const keys = new Set([...Object.keys(want), ...Object.keys(have)]);
  return [...keys].flatMap((key) => {
    const place = `${path}.${key}`;
    const isVolatile = VOLATILE.has(key);
    if (!Object.hasOwn(have, key)) return isVolatile && !NEEDED.has(key) ? [] : [`${place}: missing here`];
    if (!Object.hasOwn(want, key)) return [`${place}: only here`];
    if (!isVolatile) return differences(want[key], have[key], place);
    const [wanted, found] = [typeof want[key], typeof have[key]];
    return wanted === found ? [] : [`${place}: recorded ${wanted}, here ${found}`];
  });
}

function shown(value: Json | undefined): string {
  return value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 80);
}
