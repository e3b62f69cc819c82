import { type Json, type JsonObject, stringAt, stringsAt, valueAt } from '../kinds/json.js';
import type { KubeObject } from './kube-object.js';
import { type Resource, apiVersionOf } from './resources.js';
import { badRequest, type StatusError } from './status-error.js';

type Labels = Readonly<Record<string, string>>;

export type Match = (object: KubeObject) => boolean;

const SET_TERM = /^\s*([^\s=!,()]+)\s+(in|notin)\s*\(([^)]*)\)\s*$/;
const EQUALITY_TERM = /^\s*([^\s=!,()]+)\s*(==|=|!=)\s*([^\s=!,()]*)\s*$/;
const EXISTENCE_TERM = /^\s*(!?)\s*([^\s=!,()]+)\s*$/;

/** Parses `labelSelector` and `fieldSelector` of a query. Throws 400 if a selector is invalid. */
export function matchOf(query: URLSearchParams, resource: Resource): Match {
  const labelSelector = query.get('labelSelector') ?? '';
  const fieldSelector = query.get('fieldSelector') ?? '';
  if (labelSelector === '' && fieldSelector === '') return () => true;
  const labels = parseLabelSelector(labelSelector);
  const fields = parseFieldSelector(fieldSelector, resource);
  return (object) => labels(stringsAt(object, 'metadata', 'labels')) && fields(object);
}

/** Parses a label selector such as `a=b,c!=d,e in (f,g),h notin (i),j,!k`. Throws 400 if it is invalid. */
function parseLabelSelector(text: string): (labels: Labels) => boolean {
  const terms = splitOutsideParentheses(text).map(parseLabelTerm);
  return (labels) => terms.every((term) => term(labels));
}

/** Splits a selector at its commas, except those in `in (...)`. */
function splitOutsideParentheses(text: string): readonly string[] {
  return text.trim() === '' ? [] : text.split(/,(?![^(]*\))/);
}

function parseLabelTerm(text: string): (labels: Labels) => boolean {
  const set = SET_TERM.exec(text);
  if (set !== null) {
    const [, key = '', operator, list = ''] = set;
    const values = new Set(list.split(',').map((value) => value.trim()));
    return operator === 'in'
      ? (labels) => Object.hasOwn(labels, key) && values.has(labels[key] ?? '')
      : (labels) => !Object.hasOwn(labels, key) || !values.has(labels[key] ?? '');
  }
  const equality = EQUALITY_TERM.exec(text);
  if (equality !== null) {
    const [, key = '', operator, value] = equality;
    return operator === '!=' ? (labels) => labels[key] !== value : (labels) => labels[key] === value;
  }
  const existence = EXISTENCE_TERM.exec(text);
  if (existence === null) throw badRequest(`unable to parse requirement: ${text}`);
  const [, not, key = ''] = existence;
  return (labels) => Object.hasOwn(labels, key) === (not === '');
}

function parseFieldSelector(text: string, resource: Resource): Match {
  const terms = text
    .split(',')
    .filter((term) => term.trim() !== '')
    .map((term) => parseFieldTerm(term, resource));
  return (object) => terms.every((term) => term(object));
}

function parseFieldTerm(text: string, resource: Resource): Match {
  const term = EQUALITY_TERM.exec(text);
  if (term === null) throw badRequest(`invalid selector: '${text}'; can't understand '${text}'`);
  const [, path = '', operator, value] = term;
  const steps = selectableField(resource, path);
  return (object) => (textAt(object, steps) === value) === (operator !== '!=');
}

/** Returns a field as a string, with which a field selector is compared. An absent boolean is `false`. */
function textAt(object: KubeObject, steps: readonly string[]): string {
  const found = valueAt(object, ...steps);
  if (found === undefined && ['hostNetwork', 'unschedulable'].includes(steps.at(-1) ?? '')) return 'false';
  return typeof found === 'number' || typeof found === 'boolean' ? String(found) : asText(found);
}

function asText(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/**
 * Returns a `spec.selector` as the string in `/scale`. The selector of a ReplicationController is a plain map of
 * labels.
 */
export function selectorText(selector: JsonObject): string {
  const isPlain = !('matchLabels' in selector) && !('matchExpressions' in selector);
  const labels = isPlain ? stringsAt(selector) : stringsAt(selector, 'matchLabels');
  const equalities = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  const expressions = selector['matchExpressions'];
  const terms = Array.isArray(expressions) ? expressions.map(expressionText) : [];
  return [...equalities.sort(), ...terms].join(',');
}

function expressionText(expression: JsonObject): string {
  const key = stringAt(expression, 'key') ?? '';
  const operator = (stringAt(expression, 'operator') ?? '').toLowerCase();
  if (operator === 'exists') return key;
  if (operator === 'doesnotexist') return `!${key}`;
  const values = Array.isArray(expression['values']) ? expression['values'].map(String) : [];
  return `${key} ${operator} (${values.sort().join(',')})`;
}

/**
 * Maps apiVersion and kind to the fields that field selectors support, besides `metadata.name` and
 * `metadata.namespace`.
 */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  'v1/Pod': [
    ...['spec.nodeName', 'spec.restartPolicy', 'spec.schedulerName', 'spec.serviceAccountName'],
    ...['spec.hostNetwork', 'status.phase', 'status.podIP', 'status.nominatedNodeName'],
  ],
  'v1/Event': [
    ...['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map(
      (name) => `involvedObject.${name}`,
    ),
    ...['reason', 'reportingComponent', 'source', 'type'],
  ],
  'v1/Namespace': ['status.phase'],
  'v1/Node': ['spec.unschedulable'],
  'v1/ReplicationController': ['status.replicas'],
  'v1/Service': ['spec.clusterIP', 'spec.type'],
  'apps/v1/ReplicaSet': ['status.replicas'],
};

/** Maps fields of `events.k8s.io` to the fields of core events. All events are stored as core events. */
const EVENT_FIELDS: Readonly<Record<string, string>> = {
  reportingController: 'reportingComponent',
  regarding: 'involvedObject',
};

/** Returns the path of a selector's field in the stored object. Throws 400 if the field is not supported. */
function selectableField(resource: Resource, label: string): readonly string[] {
  if (label === 'metadata.name' || label === 'metadata.namespace') return label.split('.');
  const isNewEvent = resource.group === 'events.k8s.io';
  const fields = FIELDS[isNewEvent ? 'v1/Event' : `${apiVersionOf(resource)}/${resource.kind}`] ?? [];
  const [first = '', ...rest] = label.split('.');
  const path = isNewEvent ? [EVENT_FIELDS[first] ?? first, ...rest] : [first, ...rest];
  if (!fields.includes(path.join('.'))) throw unknownLabel(fields, label);
  return label === 'source' ? ['source', 'component'] : path;
}

function unknownLabel(fields: readonly string[], label: string): StatusError {
  return badRequest(
    fields.length > 0
      ? `field label not supported: ${label}`
      : `"${label}" is not a known field selector: only "metadata.name", "metadata.namespace"`,
  );
}
