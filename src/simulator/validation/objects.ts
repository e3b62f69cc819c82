import type { KubeObject } from '../objects/kube-object.js';
import type { FieldCause } from '../objects/status-error.js';
import {
  type JsonObject,
  listAt,
  numberAt,
  objectAt,
  sameJson,
  stringAt,
  stringsAt,
  valueAt,
  type Json,
} from '../kinds/json.js';

const CONFIG_KEY = /^[-._a-zA-Z0-9]+$/;
const MOST_CONFIG_BYTES = 1024 * 1024;
const IMMUTABLE = 'field is immutable when `immutable` is set';
const CONFIG_KEY_RULE =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.', regex used for validation is '[-._a-zA-Z0-9]+'";

export function configMapCauses(object: KubeObject, before: KubeObject | null): readonly FieldCause[] {
  const data = stringsAt(object, 'data');
  const binary = stringsAt(object, 'binaryData');
  const bytes =
    Object.values(data).reduce((sum, text) => sum + Buffer.byteLength(text), 0) +
    Object.values(binary).reduce((sum, text) => sum + Buffer.byteLength(text, 'base64'), 0);
  const isFixed = before?.['immutable'] === true;
  return [
    ...causeIf(isFixed && object['immutable'] !== true, forbidden('immutable', IMMUTABLE)),
    ...causeIf(isFixed && !sameJson(before['data'], object['data']), forbidden('data', IMMUTABLE)),
    ...Object.keys({ ...data, ...binary })
      .filter((key) => key.length > 253 || !CONFIG_KEY.test(key))
      .map((key) => invalid(`data[${key}]`, key, CONFIG_KEY_RULE)),
    ...tooLong('[]', bytes, MOST_CONFIG_BYTES),
  ];
}

export function leaseCauses(object: KubeObject): readonly FieldCause[] {
  const seconds = numberAt(object, 'spec', 'leaseDurationSeconds') ?? 1;
  return [
    ...causeIf(seconds <= 0, invalid('spec.leaseDurationSeconds', seconds, 'must be greater than 0')),
    ...negative('spec.leaseTransitions', valueAt(object, 'spec', 'leaseTransitions')),
  ];
}

export function eventCauses(object: KubeObject): readonly FieldCause[] {
  const about = stringAt(object, 'involvedObject', 'namespace') ?? '';
  const namespace = object.metadata.namespace ?? '';
  const isFine = about === '' ? namespace === 'default' || namespace === '' : about === namespace;
  return isFine ? [] : [invalid('involvedObject.namespace', about, 'does not match event.namespace')];
}

/**
 * Returns the violations of the rules that `events.k8s.io` has for new Events, in addition to those for core Events.
 */
export function newEventCauses(object: KubeObject): readonly FieldCause[] {
  const type = stringAt(object, 'type') ?? '';
  const needed = ['eventTime', 'reportingController', 'reportingInstance', 'action', 'reason'];
  return [
    ...needed.filter((field) => (stringAt(object, field) ?? '') === '').map((field) => required(field)),
    ...causeIf(!['Normal', 'Warning'].includes(type), invalid('type', object['type'], 'has invalid value: ')),
  ];
}

export function autoscalerCauses(object: KubeObject, before: KubeObject | null): readonly FieldCause[] {
  const spec = objectAt(object, 'spec');
  const least = numberAt(spec, 'minReplicas') ?? 1;
  const most = numberAt(spec, 'maxReplicas') ?? 0;
  const target = objectAt(spec, 'scaleTargetRef');
  return [
    ...causeIf(least < 1, invalid('spec.minReplicas', least, 'must be greater than or equal to 1')),
    ...causeIf(most < 1, invalid('spec.maxReplicas', most, 'must be greater than 0')),
    ...causeIf(
      most >= 1 && most < least,
      invalid('spec.maxReplicas', most, 'must be greater than or equal to `minReplicas`'),
    ),
    ...causeIf(stringAt(target, 'kind') === '', required('spec.scaleTargetRef.kind')),
    ...causeIf(stringAt(target, 'name') === '', required('spec.scaleTargetRef.name')),
    ...targetGroupCauses(target, before),
    ...listAt(spec, 'metrics').flatMap((metric, index) => {
      const type = stringAt(metric, 'type') ?? '';
      const source = type.charAt(0).toLowerCase() + type.slice(1);
      const path = `spec.metrics[${index}]`;
      if (type === '') return [required(`${path}.type`, 'must specify a metric source type')];
      const why = 'must populate information for the given metric source';
      return causeIf(valueAt(metric, source) === undefined, required(`${path}.${source}`, why));
    }),
  ];
}

/**
 * Returns a violation if the target has no API group and is not a ReplicationController. A target without a group that
 * is already stored stays valid.
 */
function targetGroupCauses(target: JsonObject, before: KubeObject | null): readonly FieldCause[] {
  const apiVersion = stringAt(target, 'apiVersion') ?? '';
  const stored = before === null ? null : (stringAt(before, 'spec', 'scaleTargetRef', 'apiVersion') ?? '');
  const isFine =
    apiVersion.includes('/') || stringAt(target, 'kind') === 'ReplicationController' || stored === apiVersion;
  const why = 'apiVersion must specify API group';
  return causeIf(!isFine, invalid('spec.scaleTargetRef.apiVersion', apiVersion, why));
}

export function causeIf(isBroken: boolean, cause: FieldCause): readonly FieldCause[] {
  return isBroken ? [cause] : [];
}

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

export function unsupported(field: string, value: Json | undefined, known: readonly Json[]): FieldCause {
  const list = known.map((one) => JSON.stringify(one)).join(', ');
  const text = `Unsupported value: ${JSON.stringify(value ?? null)}: supported values: ${list}`;
  return { reason: 'FieldValueNotSupported', field, text };
}

export function forbidden(field: string, why: string): FieldCause {
  return { reason: 'FieldValueForbidden', field, text: `Forbidden: ${why}` };
}

/** Returns the violation of a string that has more bytes than the limit. */
export function tooLong(field: string, bytes: number, most: number): readonly FieldCause[] {
  const text = `Too long: may not be more than ${most} bytes`;
  return causeIf(bytes > most, { reason: 'FieldValueTooLong', field, text });
}

export function negative(field: string, value: Json | undefined): readonly FieldCause[] {
  const isNegative = typeof value === 'number' && value < 0;
  return causeIf(isNegative, invalid(field, value, 'must be greater than or equal to 0'));
}
