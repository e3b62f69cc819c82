import type { PlainObject } from '../scaler/plain-json.js';
import { formatValue } from '../scaler/problems/finding.js';
import { BUILT_IN } from '../scaler/schema/presets.js';
import type { ImportContext } from './manifest/context.js';
import { type DraftItem, defined } from './draft/draft.js';
import type { Fields } from './manifest/fields.js';
import { readMatchers } from './manifest/label-matchers.js';
import { type NamedMetric, namedMetricItem } from './manifest/named-metric.js';
import { readTarget } from './manifest/scale-target.js';
import {
  MEMBER_OF_TARGET,
  MEMBER_OF_TYPE,
  TARGET_TYPES,
  type TargetMember,
} from '../scaler/resolve/metric-form.js';
import type { MetricType } from '../scaler/spec.js';

/** Reads a metric of an HPA (autoscaling/v2 or v2beta1). If it cannot be converted, it is commented out. */
export function readMetric(metric: Fields, context: ImportContext): DraftItem {
  const type = typeOf(metric);
  const body = type === null ? undefined : metric.object(MEMBER_OF_TYPE[type]);
  if (type !== null) metric.rest();
  if (type === null || body === undefined) {
    const rule =
      type === null
        ? `type must be one of ${Object.keys(MEMBER_OF_TYPE).join(', ')}`
        : `${MEMBER_OF_TYPE[type]} is missing`;
    return offItem(metric, `is not a metric: ${rule}`);
  }
  const item =
    type === 'Resource' || type === 'ContainerResource'
      ? readResource(type, body)
      : readNamed(type, body, context);
  body.rest();
  return item;
}

function typeOf(metric: Fields): MetricType | null {
  const written = metric.text('type');
  const types = Object.keys(MEMBER_OF_TYPE) as readonly MetricType[];
  return (
    types.find((type) => (written === undefined ? metric.has(MEMBER_OF_TYPE[type]) : type === written)) ??
    null
  );
}

function readResource(type: 'Resource' | 'ContainerResource', body: Fields): DraftItem {
  const name = body.text('name');
  const container = type === 'ContainerResource' ? body.text('container') : undefined;
  const target = readMetricTarget(body, type);
  const value = { [MEMBER_OF_TYPE[type]]: defined({ name, container, target: target ?? {} }) };
  if (name !== 'cpu' && name !== 'memory') {
    const message = `is the resource ${formatValue(name)}: promscaler supports only cpu and memory. FILL IN a metric of type Pods with a query`;
    return { ...offItem(body, message), value };
  }
  return { value, from: body.path.slice(0, -1), isOff: target === null };
}

function readNamed(type: 'Pods' | 'Object' | 'External', body: Fields, context: ImportContext): DraftItem {
  const from = body.path.slice(0, -1);
  const metric = body.object('metric');
  const name = metric?.text('name') ?? body.text('metricName');
  const selector = readMatchers(
    metric?.object('selector') ?? body.object(type === 'External' ? 'metricSelector' : 'selector'),
  );
  metric?.rest();
  // In autoscaling/v2beta1, `target` of an Object metric is the described object, not the target.
  const isOldObject = type === 'Object' && body.object('target')?.has('kind') === true;
  const described = type === 'Object' ? readDescribed(body, isOldObject) : undefined;
  const target = readMetricTarget(body, type, isOldObject);
  if (name === undefined || name === '')
    return { ...offItem(body, 'has no metric name'), value: { [MEMBER_OF_TYPE[type]]: body.value } };
  if (target === null) {
    const value = { [MEMBER_OF_TYPE[type]]: { metric: { name }, target: {} } };
    return { value, from, isOff: true };
  }
  return namedMetricItem(
    {
      metric: {
        member: MEMBER_OF_TYPE[type],
        name,
        selector,
        ...objectOf(described),
      },
      target,
      describedObject: described,
      from,
      log: body.log,
    },
    context.queries,
  );
}

/** Returns kind and API group of the described object. Unset fields mean a Deployment. */
function objectOf(described: PlainObject | undefined): Pick<NamedMetric, 'objectKind' | 'objectGroup'> {
  if (described === undefined) return { objectKind: null, objectGroup: null };
  const { kind = BUILT_IN.targetKind, apiVersion = BUILT_IN.targetApiVersion } = described;
  const [group = '', version] = String(apiVersion).split('/');
  return { objectKind: String(kind), objectGroup: version === undefined ? '' : group };
}

function readDescribed(body: Fields, isOld: boolean): PlainObject | undefined {
  const reference = body.object(isOld ? 'target' : 'describedObject');
  const read = readTarget(reference);
  reference?.rest();
  return read;
}

/** Returns a metric that cannot be converted. It is commented out unchanged, and the comment contains the reason. */
function offItem({ path, log, value }: Fields, message: string): DraftItem {
  log.lose(path, message);
  return { value, from: path, isOff: true };
}

/** The possible fields of a target for each type of metric, in the order in which the HPA controller checks them. */
const TARGET_FIELDS: Readonly<Record<string, readonly TargetMember[]>> = {
  Resource: ['averageValue', 'averageUtilization'],
  ContainerResource: ['averageValue', 'averageUtilization'],
  Pods: ['averageValue'],
  Object: ['value', 'averageValue'],
  External: ['averageValue', 'value'],
};

const OLD_NAMES: Readonly<Record<TargetMember, string>> = {
  averageUtilization: 'targetAverageUtilization',
  averageValue: 'targetAverageValue',
  value: 'targetValue',
};

/**
 * Reads the target of a metric as the HPA controller does: the field that is set or, for an Object metric, the field of
 * the target type. Null: there is no target, for which a remark is added. Source:
 * pkg/controller/podautoscaler/horizontal.go
 */
function readMetricTarget(body: Fields, type: string, isOldObject = false): PlainObject | null {
  const target = isOldObject ? undefined : body.object('target');
  const values = target === undefined ? readOld(body, isOldObject) : readNew(target);
  const written = target?.text('type');
  target?.rest();
  const allowed = TARGET_FIELDS[type] ?? [];
  const ofType = type === 'Object' ? TARGET_TYPES.find((one) => one === written) : undefined;
  const order =
    ofType === undefined ? allowed : allowed.filter((member) => member === MEMBER_OF_TARGET[ofType]);
  const member = order.find((one) => values[one] !== undefined);
  if (member !== undefined) return { [member]: values[member] };
  const path = target?.path ?? body.path;
  body.log.lose(
    path,
    `has no target: one of ${allowed.join(' and ')} must be set and above 0. FILL IN the target`,
  );
  return null;
}

type Values = Partial<Readonly<Record<TargetMember, string | number | undefined>>>;

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
    // autoscaling/v2beta1 requires targetValue. If averageValue is set, targetValue is 0 and has no meaning.
    value: isObject && averageValue !== undefined ? undefined : value,
  };
}
