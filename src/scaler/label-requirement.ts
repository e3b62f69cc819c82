import type { LabelRequirement } from './spec.js';

/**
 * `value` is undefined if the label is absent. As in metav1.LabelSelector, an absent label meets `NotIn` and
 * `DoesNotExist`.
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
