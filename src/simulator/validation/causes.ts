import type { FieldCause } from '../objects/status-error.js';
import type { Json } from '../json.js';

/** A value that is not allowed. */
export function invalid(field: string, value: Json | undefined, why: string): FieldCause {
  return {
    reason: 'FieldValueInvalid',
    field,
    text: `Invalid value: ${JSON.stringify(value ?? null)}: ${why}`,
  };
}

/** A field that must be set. */
export function required(field: string, why = ''): FieldCause {
  return {
    reason: 'FieldValueRequired',
    field,
    text: why === '' ? 'Required value' : `Required value: ${why}`,
  };
}

/** A value that is none of those that are known. */
export function unsupported(field: string, value: Json | undefined, known: readonly string[]): FieldCause {
  const list = known.map((one) => JSON.stringify(one)).join(', ');
  const text = `Unsupported value: ${JSON.stringify(value ?? null)}: supported values: ${list}`;
  return { reason: 'FieldValueNotSupported', field, text };
}

/** A change that is not allowed. */
export function forbidden(field: string, why: string): FieldCause {
  return { reason: 'FieldValueForbidden', field, text: `Forbidden: ${why}` };
}

/** A number below 0. */
export function negative(field: string, value: Json | undefined): readonly FieldCause[] {
  return typeof value === 'number' && value < 0
    ? [invalid(field, value, 'must be greater than or equal to 0')]
    : [];
}
