import { type Finding, type Path, finding, formatPath } from '../rules/finding.js';
import type { ProblemCode } from '../problems/problem-codes.js';
import type { Loose, MetricInput } from '../schema/document-schema.js';
import type { MetricTargetInput } from '../schema/metric-schema.js';
import type { MetricType } from '../spec.js';

/** The member of a metric that holds its settings. */
export type MetricMember = 'resource' | 'containerResource' | 'pods' | 'object' | 'external';

const TYPE_OF_MEMBER = {
  resource: 'Resource',
  containerResource: 'ContainerResource',
  pods: 'Pods',
  object: 'Object',
  external: 'External',
} as const satisfies Readonly<Record<MetricMember, MetricType>>;

const MEMBERS = Object.keys(TYPE_OF_MEMBER) as readonly MetricMember[];

export type TargetType = 'Utilization' | 'AverageValue' | 'Value';
type TargetMember = 'averageUtilization' | 'averageValue' | 'value';

const MEMBER_OF_TARGET = {
  Utilization: 'averageUtilization',
  AverageValue: 'averageValue',
  Value: 'value',
} as const satisfies Readonly<Record<TargetType, TargetMember>>;

const TARGET_TYPES = Object.keys(MEMBER_OF_TARGET) as readonly TargetType[];

const ALLOWED_TARGETS: Readonly<Record<MetricType, readonly TargetType[]>> = {
  Resource: ['Utilization', 'AverageValue'],
  ContainerResource: ['Utilization', 'AverageValue'],
  Pods: ['AverageValue'],
  Object: ['Value', 'AverageValue'],
  External: ['Value', 'AverageValue'],
};

/** The one member that is there; null where there is none or several. */
export function memberOf(metric: Loose<MetricInput>): MetricMember | null {
  const present = MEMBERS.filter((member) => metric[member] !== undefined);
  const [only] = present;
  return present.length === 1 && only !== undefined ? only : null;
}

/** A metric's target in one form; that of autoscaling/v2beta1 (`targetAverageValue`) is rewritten. */
export function targetOf(metric: Loose<MetricInput>): Loose<MetricTargetInput> {
  const body = metric.resource ?? metric.containerResource;
  if (body !== undefined) {
    const { target, targetAverageUtilization, targetAverageValue } = body;
    return target ?? { averageUtilization: targetAverageUtilization, averageValue: targetAverageValue };
  }
  return (metric.pods ?? metric.object ?? metric.external)?.target ?? {};
}

/** The type of a target: what it says, else what the member that is there says; null where there is none or several. */
export function targetTypeOf(target: Loose<MetricTargetInput>): TargetType | null {
  const present = TARGET_TYPES.filter((type) => target[MEMBER_OF_TARGET[type]] !== undefined);
  const [only] = present;
  return present.length === 1 && only !== undefined ? only : null;
}

/** What is wrong with a metric's `type`, its member, and its target. `broken`: paths that are refused already. */
export function checkMetricForm(
  metric: Loose<MetricInput>,
  path: Path,
  isBroken: (path: Path) => boolean,
): readonly Finding[] {
  const present = MEMBERS.filter((member) => metric[member] !== undefined);
  const name = formatPath(path);
  if (present.length === 0) {
    if (isBroken(path)) return [];
    const member = MEMBERS.find((candidate) => TYPE_OF_MEMBER[candidate] === metric.type);
    if (member !== undefined) {
      return [
        finding(
          'missing-field',
          [...path, member],
          `${name}.${member} is missing, type is ${TYPE_OF_MEMBER[member]}`,
        ),
      ];
    }
    return [atKey('missing-field', path, `${name} must have one of ${MEMBERS.join(', ')}`)];
  }
  const [member, second] = present;
  if (member === undefined) return [];
  if (second !== undefined) {
    return [
      atKey(
        'contradicting-type',
        [...path, second],
        `${name} has both ${member} and ${second}: one metric, one member`,
      ),
    ];
  }
  const type = TYPE_OF_MEMBER[member];
  if (metric.type !== undefined && metric.type !== type) {
    return [
      finding(
        'contradicting-type',
        [...path, 'type'],
        `${name}.type is ${metric.type}, but the member that is there is ${member}`,
      ),
    ];
  }
  return checkTarget(metric, [...path, member], { type, isBroken });
}

function checkTarget(
  metric: Loose<MetricInput>,
  path: Path,
  { type, isBroken }: { readonly type: MetricType; readonly isBroken: (path: Path) => boolean },
): readonly Finding[] {
  const target = targetOf(metric);
  const targetPath = [...path, 'target'];
  const name = formatPath(targetPath);
  const body = metric.resource ?? metric.containerResource;
  const old = (['targetAverageUtilization', 'targetAverageValue'] as const).find(
    (key) => body?.[key] !== undefined,
  );
  if (body?.target !== undefined && old !== undefined) {
    return [
      finding(
        'contradicting-type',
        [...path, old],
        `${formatPath([...path, old])} and ${name} say the same twice`,
      ),
    ];
  }
  const place = old === undefined ? targetPath : [...path, old];
  const present = TARGET_TYPES.filter((candidate) => target[MEMBER_OF_TARGET[candidate]] !== undefined);
  const [actual, second] = present;
  const allowed = ALLOWED_TARGETS[type];
  if (actual === undefined) {
    const places = [targetPath, [...path, 'targetAverageUtilization'], [...path, 'targetAverageValue']];
    if (places.some(isBroken)) return [];
    const members = allowed.map((candidate) => MEMBER_OF_TARGET[candidate]).join(' or ');
    return [atKey('missing-field', targetPath, `${name} must have ${members}`)];
  }
  if (second !== undefined) {
    const at = old === undefined ? [...targetPath, MEMBER_OF_TARGET[second]] : place;
    return [
      finding(
        'contradicting-type',
        at,
        `${name} has both ${MEMBER_OF_TARGET[actual]} and ${MEMBER_OF_TARGET[second]}`,
      ),
    ];
  }
  if (target.type !== undefined && target.type !== actual) {
    const message = `${name}.type is ${target.type}, but the member that is there is ${MEMBER_OF_TARGET[actual]}`;
    return [finding('contradicting-type', [...targetPath, 'type'], message)];
  }
  if (allowed.includes(actual)) return [];
  const at = old === undefined ? [...targetPath, MEMBER_OF_TARGET[actual]] : place;
  return [
    finding(
      'target-type',
      at,
      `${name} is of type ${actual}; a ${type} metric takes ${allowed.join(' or ')}`,
    ),
  ];
}

/** What is about the mapping as a whole points at its key. */
function atKey(code: ProblemCode, path: Path, message: string): Finding {
  return { ...finding(code, path, message), at: 'key' };
}
