import { type Finding, finding, formatPath, type IsBroken, type Path } from '../problems/finding.js';
import type { ProblemCode } from '../problems/problem-codes.js';
import {
  MEMBERS,
  MEMBER_OF_TARGET,
  TARGET_TYPES,
  TYPE_OF_MEMBER,
  type TargetType,
  targetOf,
} from '../resolve/metric-form.js';
import type { Loose, MetricInput } from '../schema/document-schema.js';
import type { MetricType } from '../spec.js';

const ALLOWED_TARGETS: Readonly<Record<MetricType, readonly TargetType[]>> = {
  Resource: ['Utilization', 'AverageValue'],
  ContainerResource: ['Utilization', 'AverageValue'],
  Pods: ['AverageValue'],
  Object: ['Value', 'AverageValue'],
  External: ['Value', 'AverageValue'],
};

export function checkMetricForm(
  metric: Loose<MetricInput>,
  path: Path,
  isBroken: IsBroken,
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
          `${name}.${member} is missing, although type is ${TYPE_OF_MEMBER[member]}`,
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
        `${name} has both ${member} and ${second}: write one metric for each`,
      ),
    ];
  }
  const type = TYPE_OF_MEMBER[member];
  if (metric.type !== undefined && metric.type !== type) {
    return [
      finding(
        'contradicting-type',
        [...path, 'type'],
        `${name}.type is ${metric.type}, but the field that is set is ${member}`,
      ),
    ];
  }
  return checkTarget(metric, [...path, member], { type, isBroken });
}

function checkTarget(
  metric: Loose<MetricInput>,
  path: Path,
  { type, isBroken }: { readonly type: MetricType; readonly isBroken: IsBroken },
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
        `${formatPath([...path, old])} and ${name} are two forms of one target: remove one of the two`,
      ),
    ];
  }
  const writtenPath = old === undefined ? targetPath : [...path, old];
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
    const at = old === undefined ? [...targetPath, MEMBER_OF_TARGET[second]] : writtenPath;
    return [
      finding(
        'contradicting-type',
        at,
        `${name} has both ${MEMBER_OF_TARGET[actual]} and ${MEMBER_OF_TARGET[second]}`,
      ),
    ];
  }
  if (target.type !== undefined && target.type !== actual) {
    const message = `${name}.type is ${target.type}, but the field that is set is ${MEMBER_OF_TARGET[actual]}`;
    return [finding('contradicting-type', [...targetPath, 'type'], message)];
  }
  if (allowed.includes(actual)) return [];
  const at = old === undefined ? [...targetPath, MEMBER_OF_TARGET[actual]] : writtenPath;
  return [
    finding(
      'target-type',
      at,
      `${name} is of type ${actual}; ${/^[AEIOU]/.test(type) ? 'an' : 'a'} ${type} metric takes ${allowed.join(' or ')}`,
    ),
  ];
}

/** Returns a finding about a whole object, which points at the key of the object. */
function atKey(code: ProblemCode, path: Path, message: string): Finding {
  return { ...finding(code, path, message), at: 'key' };
}
