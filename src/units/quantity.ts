/**
 * An integer number of thousandths of the base unit (millicores, millibytes, ...), as in the HPA. The range is that of
 * Kubernetes quantities: -(2^63-1) to 2^63-1.
 */
export type Milli = bigint;

/** The largest value. Larger sums are this value. */
export const MAX_MILLI: Milli = 2n ** 63n - 1n;

const QUANTITY = /^([+-]?)(\d*)(?:\.(\d*))?(?:(n|u|m|k|[MGTPE]i?|Ki)|[eE]([+-]?\d{1,9}))?$/;
const MAX_LENGTH = 128;

const DECIMAL_EXPONENT: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};

const BINARY_EXPONENT: Readonly<Record<string, number>> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };

/**
 * Limits exponents. Any digit except zero with a larger exponent exceeds `MAX_MILLI`, and with a smaller negative
 * exponent is less than one milli-unit.
 */
const EXPONENT_BOUND = 200;

/**
 * Returns the exact milli-units of a Kubernetes quantity (`500m`, `1.5Gi`, `2e3`, `2k`) or a plain number; null: it is
 * invalid. A fraction of a milli-unit is rounded away from zero, as in `Quantity.MilliValue()`. Values above 2^63-1
 * become 2^63-1. Source: k8s.io/apimachinery pkg/api/resource/quantity.go, ParseQuantity.
 */
export function parseQuantity(value: string | number): Milli | null {
  const text = String(value);
  const match = text.length <= MAX_LENGTH ? QUANTITY.exec(text) : null;
  if (match === null) return null;
  const [, sign, whole = '', fraction = '', suffix, exponentText] = match;
  if (whole === '' && fraction === '') return null;
  const digits = BigInt(whole + fraction);
  const binary = suffix === undefined ? undefined : BINARY_EXPONENT[suffix];
  const mantissa = binary === undefined ? digits : digits << BigInt(binary);
  const decimal = suffix === undefined ? Number(exponentText ?? '0') : (DECIMAL_EXPONENT[suffix] ?? 0);
  const magnitude = scaleUp(mantissa, decimal - fraction.length + 3);
  return sign === '-' ? -magnitude : magnitude;
}

/** Returns `digits * 10^exponent`, rounded up to an integer, at most `MAX_MILLI`. */
function scaleUp(digits: bigint, exponent: number): Milli {
  if (digits === 0n) return 0n;
  const bounded = Math.max(-EXPONENT_BOUND, Math.min(EXPONENT_BOUND, exponent));
  if (bounded >= 0) return saturate(digits * 10n ** BigInt(bounded));
  const divisor = 10n ** BigInt(-bounded);
  return saturate((digits + divisor - 1n) / divisor);
}

/**
 * Returns a number from Prometheus in milli-units, rounded to the nearest one. The result for a value above 0 is at
 * least one milli-unit, and at most `MAX_MILLI`. `value` must not be NaN.
 */
export function milliFromNumber(value: number): Milli {
  // Multiplied as bigint: the product of a large integer, such as the bytes of all pods, may exceed the precision of a
  // double.
  if (Number.isSafeInteger(value)) return saturate(BigInt(value) * 1000n);
  const scaled = Math.round(value * 1000);
  if (scaled === 0 && value > 0) return 1n;
  if (!Number.isFinite(scaled)) return scaled > 0 ? MAX_MILLI : -MAX_MILLI;
  return saturate(BigInt(scaled));
}

/** Returns base units. They are exact up to 4e15 milli-units. */
export function milliToNumber(milli: Milli): number {
  return Number(milli) / 1000;
}

/** Returns the sum, at most `MAX_MILLI`. */
export function addMilli(a: Milli, b: Milli): Milli {
  return saturate(a + b);
}

/** Returns the sum, at most `MAX_MILLI`. */
export function sumMilli(values: Iterable<Milli>): Milli {
  let sum = 0n;
  for (const value of values) sum = addMilli(sum, value);
  return sum;
}

/** Returns an exact quantity without suffixes larger than the base unit: `2` for 2000 milli-units, `1500m` for 1500. */
export function formatMilli(milli: Milli): string {
  return milli % 1000n === 0n ? String(milli / 1000n) : `${String(milli)}m`;
}

function saturate(value: bigint): Milli {
  if (value > MAX_MILLI) return MAX_MILLI;
  return value < -MAX_MILLI ? -MAX_MILLI : value;
}

/**
 * Returns a tolerance as a fraction; null: it is unset or invalid. Plain decimals are exact, quantities with a suffix
 * are rounded to milli-units.
 */
export function toleranceNumber(value: string | number | undefined): number | null {
  if (value === undefined || typeof value === 'number') return value ?? null;
  if (/^\+?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(value)) return Number(value);
  const milli = parseQuantity(value);
  return milli === null ? null : milliToNumber(milli);
}
