/** Values that a reader can calculate from the reason of a decision alone. */
export interface ReadReason {
  /** `ceil(value / target x pods)`, or the count that the sentence names instead. */
  readonly count: bigint;
  /** The count that the metrics propose, as written in the reason. */
  readonly wanted: bigint;
}

const SENTENCE =
  /^\S+ is at (?<value>[\d.]+)(?: %)?(?<each> of the requests| per pod)?, target (?<target>[\d.]+m?)(?: %)?(?<total> per pod)?(?<clauses>.*?): (?:stays at (?<stays>\d+)|(?<from>\d+) -> (?<to>\d+))(?:, (?<wanted>\d+) wanted)?/;
const FILLED = /, (?:(?<value>[\d.]+)(?: %)? )?with [^:]*? counted (?:as idle|at )/;
const OVER = / over (?<pods>\d+) (?:ready )?pods?/;
const SAID = /, which is (?<binary>\d+) in binary floating point|, a count is at most (?<most>\d+)/;

/** Null if the sentence has no value with a target. */
export function readReason(reason: string): ReadReason | null {
  const groups = SENTENCE.exec(reason)?.groups;
  if (groups === undefined) return null;
  const { value = '', target = '', total, clauses = '', stays, from, to } = groups;
  const current = BigInt(stays ?? from ?? '0');
  const wanted = BigInt(groups['wanted'] ?? stays ?? to ?? '0');
  const said = SAID.exec(clauses)?.groups;
  const exact = said?.['binary'] ?? said?.['most'];
  if (exact !== undefined) return { count: BigInt(exact), wanted };
  if (/, within the tolerance of|, which must not reverse the direction/.test(clauses)) {
    return { count: current, wanted };
  }
  const usage = milli(FILLED.exec(clauses)?.groups?.['value'] ?? value);
  const isTotal = total !== undefined && groups['each'] === undefined;
  const pods = isTotal ? 1n : BigInt(OVER.exec(clauses)?.groups?.['pods'] ?? current);
  return { count: divideUp(usage * pods, milli(target)), wanted };
}

function milli(text: string): bigint {
  if (text.endsWith('m')) return BigInt(text.slice(0, -1));
  const [whole = '0', part = ''] = text.split('.');
  return BigInt(whole) * 1000n + BigInt(part.padEnd(3, '0'));
}

function divideUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}
