/** 2^27 + 1: splits a float64 into two halves whose products are exact (Veltkamp). */
const SPLITTER = 134_217_729;
/** Far above the error of the correction below, 2^-51, and far below what rounding usually leaves. */
const DOUBT = 2 ** -40;

/** Powers that are exact as float64. */
const POWERS_OF_TEN = Array.from({ length: 23 }, (_, power) => Number(`1e${power}`));

export const EXACT_DIGITS = 15;
/** With the second part: the product of the first one with its power of ten has at most 64 bits. */
export const MOST_DIGITS = 19;

/**
 * Returns the float64 that is nearest to a decimal number, as `Number` of its text does; NaN: not known without doubt.
 * `digits`: at most 15 digits as an integer; `more`: the `moreDigits` (0 to 4) digits that follow; `decimals`: how many
 * of all these digits are behind the decimal point (0 to 22).
 */
export function nearestNumber(digits: number, more: number, moreDigits: number, decimals: number): number {
  const divisor = POWERS_OF_TEN[decimals] ?? NaN;
  // Both operands are exact, so that the quotient is the nearest number.
  if (moreDigits === 0) return digits / divisor;
  const factor = moreDigits > MOST_DIGITS - EXACT_DIGITS ? NaN : (POWERS_OF_TEN[moreDigits] ?? NaN);
  // The integer is `whole + rest`, exactly: the error of a product and of a sum is a float64 (Dekker, Knuth).
  const product = digits * factor;
  const whole = product + more;
  const added = whole - product;
  const rest = errorOfProduct(product, digits, factor) + (product - (whole - added) + (more - added));
  const quotient = whole / divisor;
  const scaled = quotient * divisor;
  const remainder = whole - scaled - errorOfProduct(scaled, quotient, divisor);
  const correction = (remainder + rest) / divisor;
  const nearest = quotient + correction * (1 + DOUBT);
  // The correction is not exact. Where that could matter, the two sums differ.
  return nearest === quotient + correction * (1 - DOUBT) ? nearest : NaN;
}

/** Returns `a * b - product`, exactly. */
function errorOfProduct(product: number, a: number, b: number): number {
  const aTop = SPLITTER * a - (SPLITTER * a - a);
  const bTop = SPLITTER * b - (SPLITTER * b - b);
  const aRest = a - aTop;
  const bRest = b - bTop;
  return aRest * bRest - (product - aTop * bTop - aRest * bTop - aTop * bRest);
}
