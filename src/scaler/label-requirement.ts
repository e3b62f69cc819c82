import type { LabelRequirement } from './spec.js';

/**
 * Returns whether a label meets a requirement. `value` undefined: the label is absent, which meets `NotIn` and
 * `DoesNotExist`, as in metav1.LabelSelector.
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
