/**
 * An integer number of thousandths of the base unit (millicores, millibytes, ...), the form in which the HPA
 * calculates. Between -(2^63-1) and 2^63-1, the range of Kubernetes' own quantities.
 */
export type Milli = bigint;

/** What sums of milli-units saturate at: 2^63-1. */
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

/** Past this decimal exponent any digit but zero saturates, and below its negative any digit is under one milli-unit. */
const EXPONENT_BOUND = 200;

/**
 * The milli-units of a Kubernetes quantity (`500m`, `1.5Gi`, `2e3`, `2k`), exact, or null where the text is none.
 * A fraction of a milli-unit rounds away from zero ("rounds up"), as `Quantity.MilliValue()` does; a value past
 * 2^63-1 saturates. A plain number is a quantity, too.
 * Source: k8s.io/apimachinery pkg/api/resource/quantity.go, ParseQuantity.
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

/** `digits * 10^exponent`, rounded up to an integer and saturated. */
function scaleUp(digits: bigint, exponent: number): Milli {
  if (digits === 0n) return 0n;
  const bounded = Math.max(-EXPONENT_BOUND, Math.min(EXPONENT_BOUND, exponent));
  if (bounded >= 0) return saturate(digits * 10n ** BigInt(bounded));
  const divisor = 10n ** BigInt(-bounded);
  return saturate((digits + divisor - 1n) / divisor);
}

/**
 * The milli-units of a number as Prometheus gives it: rounded to the nearest, but a value above 0 is never below
 * one milli-unit. Saturates; `value` must not be NaN.
 */
export function milliFromNumber(value: number): Milli {
  // The product of a large integer (bytes of a fleet) would not fit into a double.
  if (Number.isSafeInteger(value)) return saturate(BigInt(value) * 1000n);
  const scaled = Math.round(value * 1000);
  if (scaled === 0 && value > 0) return 1n;
  if (!Number.isFinite(scaled)) return scaled > 0 ? MAX_MILLI : -MAX_MILLI;
  return saturate(BigInt(scaled));
}

/** The double nearest to what a count of milli-units stands for in base units; up to 4e15 it reads back exactly. */
export function milliToNumber(milli: Milli): number {
  return Number(milli) / 1000;
}

/** The sum, saturated at 2^63-1. */
export function addMilli(a: Milli, b: Milli): Milli {
  return saturate(a + b);
}

/** The shortest exact quantity without a larger suffix: `2` for 2000 milli-units, `1500m` for 1500. */
export function formatMilli(milli: Milli): string {
  return milli % 1000n === 0n ? String(milli / 1000n) : `${String(milli)}m`;
}

function saturate(value: bigint): Milli {
  if (value > MAX_MILLI) return MAX_MILLI;
  return value < -MAX_MILLI ? -MAX_MILLI : value;
}
