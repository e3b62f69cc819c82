import type { PlainObject } from '../../scaler/plain-json.js';
import type { Fields } from '../manifest/fields.js';

type Member = 'averageUtilization' | 'averageValue' | 'value';

/** Fields of a target per metric type, in the order in which the HPA controller checks them. */
const MEMBERS: Readonly<Record<string, readonly Member[]>> = {
  Resource: ['averageValue', 'averageUtilization'],
  ContainerResource: ['averageValue', 'averageUtilization'],
  Pods: ['averageValue'],
  Object: ['value', 'averageValue'],
  External: ['averageValue', 'value'],
};

const OLD_NAMES: Readonly<Record<Member, string>> = {
  averageUtilization: 'targetAverageUtilization',
  averageValue: 'targetAverageValue',
  value: 'targetValue',
};

const TYPES: Readonly<Record<string, Member>> = {
  Utilization: 'averageUtilization',
  AverageValue: 'averageValue',
  Value: 'value',
};

/**
 * Reads the target of a metric like the HPA controller: the field that is set, or for an Object metric the field of the
 * target type. Null: there is no target, which is recorded as a remark. Source:
 * pkg/controller/podautoscaler/horizontal.go
 */
export function readMetricTarget(body: Fields, type: string, isOldObject = false): PlainObject | null {
  const target = isOldObject ? undefined : body.object('target');
  const values = target === undefined ? readOld(body, isOldObject) : readNew(target);
  const written = target?.text('type');
  target?.rest();
  const allowed = MEMBERS[type] ?? [];
  const ofType = type === 'Object' && written !== undefined ? TYPES[written] : undefined;
  const order = ofType === undefined ? allowed : allowed.filter((member) => member === ofType);
  const member = order.find((one) => values[one] !== undefined);
  if (member !== undefined) return { [member]: values[member] };
  const path = target?.path ?? body.path;
  body.log.lose(
    path,
    `has no target: one of ${allowed.join(' and ')} must be set and above 0. FILL IN the target`,
  );
  return null;
}

type Values = Partial<Readonly<Record<Member, string | number | undefined>>>;

function readNew(target: Fields): Values {
  return {
    averageUtilization: target.integer('averageUtilization'),
    averageValue: target.quantity('averageValue'),
    value: target.quantity('value'),
  };
}

function readOld(body: Fields, isObject: boolean): Values {
  const averageValue = isObject ? body.quantity('averageValue') : body.quantity(OLD_NAMES.averageValue);
  const value = body.quantity(OLD_NAMES.value);
  return {
    averageUtilization: body.integer(OLD_NAMES.averageUtilization),
    averageValue,
    // autoscaling/v2beta1 requires targetValue, so it is 0 next to averageValue.
    value: isObject && averageValue !== undefined ? undefined : value,
  };
}
