import type { FieldCause } from '../objects/status-error.js';
import type { Json } from '../json/json.js';

export function invalid(field: string, value: Json | undefined, why: string): FieldCause {
  return {
    reason: 'FieldValueInvalid',
    field,
    text: `Invalid value: ${JSON.stringify(value ?? null)}: ${why}`,
  };
}

export function required(field: string, why = ''): FieldCause {
  return {
    reason: 'FieldValueRequired',
    field,
    text: why === '' ? 'Required value' : `Required value: ${why}`,
  };
}

export function unsupported(field: string, value: Json | undefined, known: readonly string[]): FieldCause {
  const list = known.map((one) => JSON.stringify(one)).join(', ');
  const text = `Unsupported value: ${JSON.stringify(value ?? null)}: supported values: ${list}`;
  return { reason: 'FieldValueNotSupported', field, text };
}

export function forbidden(field: string, why: string): FieldCause {
  return { reason: 'FieldValueForbidden', field, text: `Forbidden: ${why}` };
}

export function negative(field: string, value: Json | undefined): readonly FieldCause[] {
  return typeof value === 'number' && value < 0
    ? [invalid(field, value, 'must be greater than or equal to 0')]
    : [];
}
