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

/** Returns the first problem of the type and the target of a metric; null: there is none. */
export function checkMetricForm(metric: Loose<MetricInput>, path: Path, isBroken: IsBroken): Finding | null {
  const present = MEMBERS.filter((member) => metric[member] !== undefined);
  const name = formatPath(path);
  if (present.length === 0) {
    if (isBroken(path)) return null;
    const member = MEMBERS.find((candidate) => TYPE_OF_MEMBER[candidate] === metric.type);
    if (member === undefined)
      return atKey('missing-field', path, `${name} must have one of ${MEMBERS.join(', ')}`);
    const message = `${name}.${member} is missing, although type is ${TYPE_OF_MEMBER[member]}`;
    return finding('missing-field', [...path, member], message);
  }
  const [member, second] = present;
  if (member === undefined) return null;
  if (second !== undefined) {
    const message = `${name} has both ${member} and ${second}: write one metric for each`;
    return atKey('contradicting-type', [...path, second], message);
  }
  const type = TYPE_OF_MEMBER[member];
  if (metric.type !== undefined && metric.type !== type) {
    const message = `${name}.type is ${metric.type}, but the field that is set is ${member}`;
    return finding('contradicting-type', [...path, 'type'], message);
  }
  return checkTarget(metric, [...path, member], { type, isBroken });
}

function checkTarget(
  metric: Loose<MetricInput>,
  path: Path,
  { type, isBroken }: { readonly type: MetricType; readonly isBroken: IsBroken },
): Finding | null {
  const target = targetOf(metric);
  const targetPath = [...path, 'target'];
  const name = formatPath(targetPath);
  const body = metric.resource ?? metric.containerResource;
  const old = (['targetAverageUtilization', 'targetAverageValue'] as const).find(
    (key) => body?.[key] !== undefined,
  );
  if (body?.target !== undefined && old !== undefined) {
    const message = `${formatPath([...path, old])} and ${name} are two forms of one target: remove one of the two`;
    return finding('contradicting-type', [...path, old], message);
  }
  const writtenPath = old === undefined ? targetPath : [...path, old];
  const present = TARGET_TYPES.filter((candidate) => target[MEMBER_OF_TARGET[candidate]] !== undefined);
  const [actual, second] = present;
  const allowed = ALLOWED_TARGETS[type];
  if (actual === undefined) {
    const places = [targetPath, [...path, 'targetAverageUtilization'], [...path, 'targetAverageValue']];
    if (places.some(isBroken)) return null;
    const members = allowed.map((candidate) => MEMBER_OF_TARGET[candidate]).join(' or ');
    return atKey('missing-field', targetPath, `${name} must have ${members}`);
  }
  if (second !== undefined) {
    const at = old === undefined ? [...targetPath, MEMBER_OF_TARGET[second]] : writtenPath;
    const message = `${name} has both ${MEMBER_OF_TARGET[actual]} and ${MEMBER_OF_TARGET[second]}`;
    return finding('contradicting-type', at, message);
  }
  if (target.type !== undefined && target.type !== actual) {
    const message = `${name}.type is ${target.type}, but the field that is set is ${MEMBER_OF_TARGET[actual]}`;
    return finding('contradicting-type', [...targetPath, 'type'], message);
  }
  if (allowed.includes(actual)) return null;
  const at = old === undefined ? [...targetPath, MEMBER_OF_TARGET[actual]] : writtenPath;
  const message = `${name} is of type ${actual}; ${/^[AEIOU]/.test(type) ? 'an' : 'a'} ${type} metric takes ${allowed.join(' or ')}`;
  return finding('target-type', at, message);
}

/** Returns a finding about a whole object, which points at the key of the object. */
function atKey(code: ProblemCode, path: Path, message: string): Finding {
  return { ...finding(code, path, message), at: 'key' };
}
