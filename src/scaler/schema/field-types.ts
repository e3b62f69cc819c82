import * as z from 'zod';
import { parseQuantity } from '../../units/quantity.js';
import { BUILT_IN } from './presets.js';

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/**
 * Limits of lists. They are larger than any document needs. Each metric costs a query per period; entries of the other
 * lists cost time in each decision or for each series.
 */
export const MAX_METRICS = 100;
export const MAX_POLICIES = 100;
export const MAX_REQUIREMENTS = 50;
export const MAX_VALUES = 1000;

/** A DNS-1123 subdomain, as in the name of a Kubernetes object. */
export const objectName = z
  .string()
  .max(253)
  .regex(SUBDOMAIN, { error: 'must be a name of lowercase letters, digits, "-" and "."' });

/** A DNS-1123 label, as in the name of a namespace or container. */
export const labelName = z
  .string()
  .max(63)
  .regex(LABEL, { error: 'must be a name of lowercase letters, digits and "-"' });

/** `GROUP/VERSION`, or `VERSION` for the core group. */
export const apiVersion = z
  .string()
  .max(317)
  .regex(/^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?v[a-z0-9]+$/, {
    error: 'must be GROUP/VERSION, such as apps/v1',
  });

export const kind = z
  .string()
  .max(63)
  .regex(/^[A-Z][A-Za-z0-9]*$/, { error: 'must be a kind, such as Deployment' });

export const promql = z.string().min(1).max(65_536);

const NOT_POSITIVE = 'must be a quantity above 0, such as 50, "500m" or "1Gi"';
const NOT_QUANTITY = 'must be a number or a quantity of at least 0, such as 0.1 or "100m"';

function isExact(value: string | number): boolean {
  return typeof value === 'string' || !Number.isInteger(value) || Number.isSafeInteger(value);
}

const NOT_EXACT = 'must be below 2^53 (9007199254740992)';

/**
 * A quantity of at least `least` milli-units. A plain number must be below 2^53, because larger doubles lose digits.
 */
function quantityOf(least: bigint, error: string): z.ZodType<string | number, string | number> {
  return z
    .union([z.string(), z.number()], { error })
    .refine(isExact, { error: NOT_EXACT, abort: true })
    .refine((value) => (parseQuantity(value) ?? -1n) >= least, { error });
}

/** A quantity above 0. The smallest quantity is 1 milli-unit, because `parseQuantity` returns milli-units. */
export const positiveQuantity = quantityOf(1n, NOT_POSITIVE);

const NEGATIVE = 'must be a quantity of at least 0, such as 0, 50, "500m" or "1Gi"';

export const quantity = quantityOf(0n, NEGATIVE);

export const dataSource = labelName.optional().meta({
  description: 'Name of the data source in the service config.',
  default: BUILT_IN.source,
});

/** A fraction of at least 0, as a number or a quantity: 0.1 or `100m`. */
export const toleranceValue = quantityOf(0n, NOT_QUANTITY);

export function seconds(min: number, max: number): z.ZodInt {
  return z.int().min(min).max(max);
}
