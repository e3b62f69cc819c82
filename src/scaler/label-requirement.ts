import type { LabelRequirement } from './spec.js';

/**
 * Whether the value of a requirement's label fulfils it; undefined: there is no such label. As metav1.LabelSelector:
 * `NotIn` and `DoesNotExist` also hold for a label that is not there.
 */
export function isFulfilled({ operator, values }: LabelRequirement, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return operator satisfies never;
  }
}
