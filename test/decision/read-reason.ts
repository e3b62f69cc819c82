import { parseQuantity } from '../../src/units/quantity.js';

/** Values that a reader can calculate from the reason of a decision alone. */
export interface ReadReason {
  /** `ceil(value / target x pods)`, or the count that the sentence names instead. */
  readonly count: bigint;
  /** The count that the metrics propose, as written in the reason. */
  readonly recommended: bigint;
}

const SENTENCE =
  /^\S+ is at (?:(?<value>[\d.]+(?:[KMGTP]i)?)(?: %)?(?: of the requests| per pod)?, )?(?:(?<total>[\d.]+(?:[KMGTP]i)?) in total, )?target (?<target>[\d.]+(?:[KMGTP]i)?)(?: %)?(?: per pod)?(?<clauses>.*?): (?:stays at (?<stays>\d+)|(?<from>\d+) -> (?<to>\d+))(?:, (?<recommended>\d+) recommended)?/;
const FILLED = /, (?:(?<value>[\d.]+(?:[KMGTP]i)?)(?: %)? )?with [^:]*? counted (?:as idle|at )/;
const OVER = / over (?<pods>\d+) (?:ready )?pods?/;
const SAID = /, rounded up to (?<binary>\d+) in floating-point arithmetic|, limited to (?<most>\d+)/;

/** Null if the sentence has no value with a target. */
export function readReason(reason: string): ReadReason | null {
  const groups = SENTENCE.exec(reason)?.groups;
  if (groups === undefined) return null;
  const { value = '', target = '', total, clauses = '', stays, from, to } = groups;
  const current = BigInt(stays ?? from ?? '0');
  const recommended = BigInt(groups['recommended'] ?? stays ?? to ?? '0');
  const said = SAID.exec(clauses)?.groups;
  const exact = said?.['binary'] ?? said?.['most'];
  if (exact !== undefined) return { count: BigInt(exact), recommended };
  if (/, within the tolerance of|, which must not reverse the direction/.test(clauses)) {
    return { count: current, recommended };
  }
  if (total !== undefined) return { count: divideUp(milli(total), milli(target)), recommended };
  const usage = milli(FILLED.exec(clauses)?.groups?.['value'] ?? value);
  const pods = BigInt(OVER.exec(clauses)?.groups?.['pods'] ?? current);
  return { count: divideUp(usage * pods, milli(target)), recommended };
}

function milli(text: string): bigint {
  return parseQuantity(text) ?? 0n;
}

function divideUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}
