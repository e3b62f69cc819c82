import {
  MEMBERS,
  MEMBER_OF_TARGET,
  TARGET_TYPES,
  TYPE_OF_MEMBER,
} from '../../../scaler/resolve/metric-form.js';
import { isPlainObject, valueAt } from '../../../scaler/plain-json.js';
import { PRESETS } from '../../../scaler/schema/presets.js';
import { defaultsInEffect } from '../model/effective-fields.js';

/**
 * An input. `placeholder`: the default in effect; empty: there is none. `choices`: the allowed values; null: any text.
 */
export interface Field {
  readonly path: Path;
  readonly label: string;
  readonly placeholder: string;
  readonly choices: readonly string[] | null;
}

export interface FieldGroup {
  readonly title: string;
  readonly fields: readonly Field[];
}

/**
 * Returns the inputs of the form in groups. Fields that cannot change a decision on the same snapshot, and lists of
 * objects other than policies, have no input and can only be edited as text. The inputs of targets are from `base`, the
 * original document, so that an input stays when the user empties it.
 */
export function listFields(document: unknown, base: unknown): readonly FieldGroup[] {
  const spec = valueAt(document, ['spec']);
  const defaults = defaultsInEffect(isPlainObject(spec) ? spec : {});
  const field = (name: string, choices: readonly string[] | null = null): Field => ({
    path: ['spec', ...name.split('.')],
    label: name,
    placeholder: defaults.get(name) ?? '',
    choices,
  });
  const policiesOf = (direction: string): unknown => valueAt(spec, ['behavior', direction, 'policies']);
  return [
    {
      title: 'Bounds and targets',
      fields: [
        field('minReplicas'),
        field('maxReplicas'),
        field('tolerance'),
        ...targetFields(valueAt(base, ['spec'])),
      ],
    },
    ...['scaleUp', 'scaleDown'].map((direction) => ({
      title: `behavior.${direction}`,
      fields: [
        ...[
          field(`behavior.${direction}.stabilizationWindowSeconds`),
          field(`behavior.${direction}.selectPolicy`, ['Max', 'Min', 'Disabled']),
          field(`behavior.${direction}.tolerance`),
        ].map((one) => ({ ...one, label: String(one.path.at(-1)) })),
        ...policyFields(['spec', 'behavior', direction, 'policies'], policiesOf(direction)),
      ],
    })),
    {
      title: 'Limits and windows',
      fields: [
        field('preset', Object.keys(PRESETS)),
        field('downscaleStabilizationSeconds'),
        field('upscaleForbiddenWindowSeconds'),
        field('downscaleForbiddenWindowSeconds'),
        field('forbiddenWindowsSince', ['SameDirection', 'AnyRescale']),
        field('scaleUpLimitFactor'),
        field('scaleUpLimitMinimum'),
        field('downscaleConfirmation.seconds'),
        field('downscaleConfirmation.decisions'),
        field('maxScaleDownPercentPerWindow'),
      ],
    },
    {
      title: 'Pods, fallback, scale to zero',
      fields: [
        field('cpuInitializationPeriodSeconds'),
        field('initialReadinessDelaySeconds'),
        field('podStart.seconds'),
        field('podWarmupSeconds'),
        field('forecast.mode', ['Observe', 'Raise']),
        field('forecast.quantile'),
        field('forecast.fillPercent'),
        field('forecast.budgetPercent'),
        field('fallback.afterSeconds'),
        field('fallback.replicas'),
        field('fallback.mode', ['atLeast', 'exact', 'currentReplicasIfHigher']),
        field('cooldownSeconds'),
      ],
    },
  ];
}

function targetFields(spec: unknown): readonly Field[] {
  const metrics = valueAt(spec, ['metrics']);
  if (!Array.isArray(metrics)) return [];
  return metrics.flatMap((metric: unknown, index) => {
    const member = MEMBERS.find((name) => isPlainObject(metric) && Object.hasOwn(metric, name));
    if (member === undefined) return [];
    const body = valueAt(metric, [member]);
    const name = nameOf(body) ?? TYPE_OF_MEMBER[member];
    return targetPaths(body).map((path) => ({
      path: ['spec', 'metrics', index, member, ...path],
      label: `${name}: ${path.join('.')}`,
      placeholder: '',
      choices: null,
    }));
  });
}

function nameOf(body: unknown): string | null {
  const names = [valueAt(body, ['metric', 'name']), valueAt(body, ['name'])];
  return names.find((name) => typeof name === 'string') ?? null;
}

/**
 * Returns the paths of the numbers of a metric that have an input: targets (in `target` or as a short form), and a few
 * other numbers.
 */
function targetPaths(body: unknown): readonly (readonly string[])[] {
  const members = TARGET_TYPES.map((type) => MEMBER_OF_TARGET[type]);
  const inTarget = members.map((member) => ['target', member]);
  const flat = [['targetAverageUtilization'], ['targetAverageValue']];
  const parts = [
    ['activation', 'above'],
    ['backlog', 'drainSeconds'],
    ['saturation', 'factor'],
  ];
  return [...inTarget, ...flat, ...parts].filter((path) => valueAt(body, path) !== undefined);
}

/** Returns the inputs for the existing policies, and for one new policy. */
function policyFields(path: Path, policies: unknown): readonly Field[] {
  const count = Array.isArray(policies) ? policies.length : 0;
  return Array.from({ length: count + 1 }, (_, index) =>
    (['type', 'value', 'periodSeconds'] as const).map((name) => ({
      path: [...path, index, name],
      label: `policies[${index}].${name}`,
      placeholder: '',
      choices: name === 'type' ? ['Pods', 'Percent'] : null,
    })),
  ).flat();
}

/** Returns whether a problem is at a field or at a value within the field. */
export function isAtField(problemPath: string, fieldPath: string): boolean {
  return (
    problemPath === fieldPath ||
    problemPath.startsWith(`${fieldPath}.`) ||
    problemPath.startsWith(`${fieldPath}[`)
  );
}

/** The keys and list indexes from the root of a document to a field. */
export type Path = readonly (string | number)[];

/**
 * Returns a copy of a document with `value` at `path`. If `value` is undefined, removes the field, and objects and
 * lists that become empty.
 */
export function withValue(document: unknown, path: Path, value: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (typeof step === 'number') {
    const list: readonly unknown[] = Array.isArray(document) ? document : [];
    const next = withValue(list[step], rest, value);
    const others = list.map((item, index) => (index === step ? undefined : item));
    if (!isGone(next, value)) others[Math.min(step, list.length)] = next;
    return others.filter((item) => item !== undefined);
  }
  const object = isPlainObject(document) ? document : {};
  const next = withValue(Object.hasOwn(object, step) ? object[step] : undefined, rest, value);
  const members = Object.hasOwn(object, step)
    ? Object.entries(object).map(([key, member]): [string, unknown] => [key, key === step ? next : member])
    : [...Object.entries(object), [step, next] as const];
  return Object.fromEntries(members.filter(([key, member]) => key !== step || !isGone(member, value)));
}

function isGone(next: unknown, value: unknown): boolean {
  if (next === undefined) return true;
  if (value !== undefined) return false;
  return Array.isArray(next) ? next.length === 0 : isPlainObject(next) && Object.keys(next).length === 0;
}

/**
 * Returns the value for the text of an input: undefined for an empty text, a number for a decimal number, otherwise a
 * string.
 */
export function readInput(text: string): unknown {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  return /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(trimmed) ? Number(trimmed) : trimmed;
}

/** Returns the text that an input shows for a field; empty: the field is unset. */
export function textAt(document: unknown, path: Path): string {
  const value = valueAt(document, path);
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
