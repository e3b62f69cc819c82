import { createRequire } from 'node:module';
import { at, isMapping, listAt } from './helm.js';
import type { Rendered } from './helm.js';

/** Throws an error with all problems of its `this`. */
type Validate = (this: unknown) => void;

const load = createRequire(import.meta.url);

const IN_SCHEMA = /^\/spec\/versions\/\d+\/schema\/openAPIV3Schema\/.*: no such field$/;
const LABEL = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;
const SUBDOMAIN = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/**
 * Returns all problems that an API server would report for an object: its schema, unknown fields, names and labels, and
 * in a pod invalid references. Empty for a valid object.
 */
export function manifestProblems(object: Rendered): readonly string[] {
  const kind = String(object['kind']);
  if (kind === 'ServiceMonitor') return [...monitorProblems(object), ...metadataProblems(object)];
  if (kind === 'PrometheusRule') return [...ruleProblems(object), ...metadataProblems(object)];
  const validate = validatorOf(String(object['apiVersion']), kind);
  if (validate === null) return [`nothing is known of ${String(object['apiVersion'])} ${kind}`];
  const pod = kind === 'Pod' ? object['spec'] : at(object, 'spec', 'template', 'spec');
  const problems = schemaProblems(validate, object);
  return [
    // The validators do not check the schema of a definition; simulator/validation/definition.ts does.
    ...(kind === 'CustomResourceDefinition' ? problems.filter((one) => !IN_SCHEMA.test(one)) : problems),
    ...metadataProblems(object),
    ...(pod === undefined ? [] : podProblems(pod)),
  ];
}

function validatorOf(apiVersion: string, kind: string): Validate | null {
  let module: unknown;
  try {
    module = load(`kubernetes-models/${apiVersion}/${kind}`);
  } catch {
    return null;
  }
  const model = isMapping(module) ? module[kind] : undefined;
  const prototype: unknown = typeof model === 'function' ? model.prototype : undefined;
  const validate = isMapping(prototype) ? prototype['validate'] : undefined;
  return typeof validate === 'function' ? (validate as Validate) : null;
}

/** The validators ignore unknown fields: a field that none of them has read is unknown. */
function schemaProblems(validate: Validate, object: Rendered): readonly string[] {
  const seen = new Set<string>();
  const problems: string[] = [];
  try {
    validate.call(watched(object, '', seen));
  } catch (error) {
    problems.push(String(error));
  }
  return [...problems, ...unseen(object, '', seen)];
}

/** Returns the same value, recording the paths of all members that are read. */
function watched(value: unknown, path: string, seen: Set<string>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return new Proxy(value, {
    get: (target, key) => {
      const member: unknown = Reflect.get(target, key);
      if (typeof key !== 'string' || !Object.hasOwn(target, key)) return member;
      seen.add(`${path}/${key}`);
      return watched(member, `${path}/${key}`, seen);
    },
  });
}

function unseen(value: unknown, path: string, seen: ReadonlySet<string>): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    const name = `${path}/${key}`;
    const isKnown = seen.has(name) || (Array.isArray(value) && key === 'length');
    return isKnown ? unseen(member, name, seen) : [`${name}: no such field`];
  });
}

function metadataProblems(object: Rendered): readonly string[] {
  const problems: string[] = [];
  const name = String(at(object, 'metadata', 'name'));
  if (!SUBDOMAIN.test(name)) problems.push(`/metadata/name: ${name} is no name`);
  for (const place of [object, at(object, 'spec', 'template')]) {
    const labels = at(place, 'metadata', 'labels');
    for (const [key, value] of Object.entries(isMapping(labels) ? labels : {}))
      if (!LABEL.test(String(value))) problems.push(`/metadata/labels/${key}: ${String(value)} is no label`);
  }
  return problems;
}

function podProblems(pod: unknown): readonly string[] {
  const problems: string[] = [];
  const volumes = namesOf(pod, 'volumes');
  problems.push(...twice(volumes).map((name) => `two volumes are called ${name}`));
  for (const container of listAt(pod, 'containers')) {
    const mounts = namesOf(container, 'volumeMounts');
    const paths = listAt(container, 'volumeMounts').map((mount) => String(at(mount, 'mountPath')));
    const ports = at(container, 'ports') === undefined ? [] : namesOf(container, 'ports');
    problems.push(
      ...mounts.filter((name) => !volumes.includes(name)).map((name) => `no volume is called ${name}`),
      ...volumes.filter((name) => !mounts.includes(name)).map((name) => `volume ${name} is mounted nowhere`),
      ...twice(paths).map((path) => `two volumes are mounted at ${path}`),
      ...twice(namesOf(container, 'env')).map((name) => `two variables are called ${name}`),
    );
    for (const probe of ['livenessProbe', 'readinessProbe']) {
      const port = at(container, probe, 'httpGet', 'port');
      if (typeof port === 'string' && !ports.includes(port))
        problems.push(`${probe}: no port is called ${port}`);
    }
  }
  return [...problems, ...volumes.filter((name) => name.length > 63).map((name) => `${name} is too long`)];
}

function namesOf(value: unknown, list: string): readonly string[] {
  return listAt(value, list).map((item) => String(at(item, 'name')));
}

function twice(names: readonly string[]): readonly string[] {
  return names.filter((name, index) => names.indexOf(name) !== index);
}

/** Validates a ServiceMonitor of prometheus-operator, as far as the chart uses it (monitoring.coreos.com/v1). */
function monitorProblems(object: Rendered): readonly string[] {
  const problems: string[] = [];
  const expectMembers = (value: unknown, path: string, members: Readonly<Record<string, string>>): void => {
    for (const [key, member] of Object.entries(isMapping(value) ? value : {})) {
      if (members[key] === undefined) problems.push(`${path}/${key}: no such field`);
      else if (typeof member !== members[key]) problems.push(`${path}/${key}: must be ${members[key]}`);
    }
  };
  if (object['apiVersion'] !== 'monitoring.coreos.com/v1') problems.push('/apiVersion: is another one');
  expectMembers(object, '', { apiVersion: 'string', kind: 'string', metadata: 'object', spec: 'object' });
  expectMembers(object['spec'], '/spec', {
    selector: 'object',
    endpoints: 'object',
    namespaceSelector: 'object',
  });
  expectMembers(at(object, 'spec', 'namespaceSelector'), '/spec/namespaceSelector', { matchNames: 'object' });
  expectMembers(at(object, 'spec', 'selector'), '/spec/selector', { matchLabels: 'object' });
  for (const endpoint of listAt(object, 'spec', 'endpoints')) {
    expectMembers(endpoint, '/spec/endpoints', {
      port: 'string',
      path: 'string',
      honorLabels: 'boolean',
      interval: 'string',
      scrapeTimeout: 'string',
      relabelings: 'object',
      metricRelabelings: 'object',
    });
    for (const name of ['interval', 'scrapeTimeout']) {
      const duration = at(endpoint, name);
      if (typeof duration === 'string' && !/^([0-9]+(ms|s|m|h))+$/.test(duration))
        problems.push(`/spec/endpoints: ${name} is no duration`);
    }
    for (const name of ['relabelings', 'metricRelabelings'])
      for (const config of (at(endpoint, name) ?? []) as readonly unknown[])
        expectMembers(config, `/spec/endpoints/${name}`, {
          sourceLabels: 'object',
          separator: 'string',
          targetLabel: 'string',
          regex: 'string',
          modulus: 'number',
          replacement: 'string',
          action: 'string',
        });
  }
  return problems;
}

/** Validates a PrometheusRule, as far as the chart uses it. promtool checks its contents. */
function ruleProblems(object: Rendered): readonly string[] {
  const problems: string[] = [];
  const expectMembers = (value: unknown, path: string, members: readonly string[]): void => {
    const there = Object.keys(isMapping(value) ? value : {});
    problems.push(
      ...there.filter((key) => !members.includes(key)).map((key) => `${path}/${key}: no such field`),
    );
    problems.push(
      ...members.filter((key) => !there.includes(key)).map((key) => `${path}/${key}: is missing`),
    );
  };
  if (object['apiVersion'] !== 'monitoring.coreos.com/v1') problems.push('/apiVersion: is another one');
  expectMembers(object, '', ['apiVersion', 'kind', 'metadata', 'spec']);
  expectMembers(object['spec'], '/spec', ['groups']);
  for (const group of listAt(object, 'spec', 'groups')) {
    expectMembers(group, '/spec/groups', ['name', 'rules']);
    for (const rule of listAt(group, 'rules')) {
      expectMembers(rule, '/spec/groups/rules', ['alert', 'expr', 'for', 'labels', 'annotations']);
      expectMembers(at(rule, 'annotations'), '/annotations', ['summary', 'description', 'runbook_url']);
    }
  }
  return problems;
}
