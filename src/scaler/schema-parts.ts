import * as z from 'zod';
import { parseQuantity } from '../units/quantity.js';

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** Each metric costs a query a period, the others work for each decision or series: far more than a document needs. */
export const MAX_METRICS = 100;
export const MAX_POLICIES = 100;
export const MAX_REQUIREMENTS = 50;
export const MAX_VALUES = 1000;

/** A DNS-1123 subdomain of at most 253 characters, what Kubernetes objects are called. */
export const objectName = z
  .string()
  .max(253)
  .regex(SUBDOMAIN, { error: 'must be a name of lower case letters, digits, "-" and "."' });

/** A DNS-1123 label of at most 63 characters: namespaces, containers, data sources. */
export const labelName = z
  .string()
  .max(63)
  .regex(LABEL, { error: 'must be a name of lower case letters, digits and "-"' });

/** `GROUP/VERSION`, or `VERSION` of the core group. */
export const apiVersion = z
  .string()
  .max(317)
  .regex(/^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?v[a-z0-9]+$/, {
    error: 'must be GROUP/VERSION, such as apps/v1',
  });

/** The kind of a Kubernetes object. */
export const kind = z
  .string()
  .max(63)
  .regex(/^[A-Z][A-Za-z0-9]*$/, { error: 'must be a kind, such as Deployment' });

const NOT_POSITIVE = 'must be a quantity above 0, such as 50, "500m" or "1Gi"';
const NOT_QUANTITY = 'must be a number or a quantity of at least 0, such as 0.1 or "100m"';

function isExact(value: string | number): boolean {
  return typeof value === 'string' || !Number.isInteger(value) || Number.isSafeInteger(value);
}

/** A Kubernetes quantity above 0; a plain number is one, too, up to 2^53-1 (past that it would lose digits). */
export const positiveQuantity = z
  .union([z.string(), z.number()], { error: NOT_POSITIVE })
  .refine((value) => isExact(value) && (parseQuantity(value) ?? 0n) > 0n, { error: NOT_POSITIVE })
  .meta({ description: 'A Kubernetes quantity above 0' });

const NEGATIVE = 'must be a quantity of at least 0, such as 0, 50, "500m" or "1Gi"';

/** A Kubernetes quantity of at least 0. */
export const quantity = z
  .union([z.string(), z.number()], { error: NEGATIVE })
  .refine((value) => isExact(value) && (parseQuantity(value) ?? -1n) >= 0n, { error: NEGATIVE })
  .meta({ description: 'A Kubernetes quantity of at least 0' });

/** A number or quantity of at least 0 that stands for a share: 0.1 or `100m`. */
export const toleranceValue = z
  .union([z.string(), z.number()], { error: NOT_QUANTITY })
  .refine((value) => isExact(value) && (parseQuantity(value) ?? -1n) >= 0n, { error: NOT_QUANTITY })
  .meta({ description: 'A number from 0 to 1, or a quantity of that size' });

/** Whole seconds from `min` to `max`. */
export function seconds(min: number, max: number): z.ZodInt {
  return z.int().min(min).max(max);
}
