import { checkSchema } from '../scaler/schema/check-schema.js';
import {
  brokenIn,
  type Finding,
  finding,
  internalErrorMessage,
  locateAll,
  type LocatedDocument,
} from '../scaler/problems/finding.js';
import { isPlainObject } from '../scaler/plain-json.js';
import { readPlain } from '../scaler/read/read-plain.js';
import type { Problem } from '../scaler/problems/problem.js';
import { eachYamlDocument } from '../scaler/yaml/read-yaml.js';
import type { ServiceFacts } from '../scaler/rules/admission-rules.js';
import { type ServiceConfig, resolveServiceConfig } from './resolve-service-config.js';
import {
  describeValue,
  possibleSecrets,
  redactFinding,
  redactProblem,
  redactYamlProblem,
} from './redact-values.js';
import { checkServiceRules } from './service-rules.js';
import { type ServiceInput, serviceSchema } from './service-schema.js';

interface ReadServiceConfig {
  readonly config: ServiceConfig | null;
  readonly problems: readonly Problem[];
}

/**
 * Parses the service config and returns all problems. `file` is its name in problems. Relative paths in the config are
 * relative to the directory of `path`. An empty file is a config with all defaults.
 */
export function readServiceConfig(text: string, file: string, path: string = file): ReadServiceConfig {
  // Documents after the second one are not parsed, because there may be thousands.
  const [document, second] = eachYamlDocument(text, file);
  if (document === undefined) return { config: resolveServiceConfig({}, path), problems: [] };
  if (second !== undefined) {
    const message = 'a service config must be one YAML document, but this is the second document of the file';
    return {
      config: null,
      problems: [redactProblem(second.locate(finding('wrong-settings', [], message)), null)],
    };
  }
  return readServiceDocument(document, path);
}

export function readServiceDocument(
  { value, problems, locate }: LocatedDocument,
  path: string,
): ReadServiceConfig {
  if (value === undefined) return { config: null, problems: problems.map(redactYamlProblem) };
  try {
    return readValue({ value, problems, locate }, path);
  } catch (cause) {
    // The message of the error is not used, because it may quote a value that is a secret.
    const name = cause instanceof Error ? cause.name : typeof cause;
    return { config: null, problems: [locate(finding('internal-error', [], internalErrorMessage(name)))] };
  }
}

function readValue({ value, problems, locate }: LocatedDocument, path: string): ReadServiceConfig {
  const { findings, input } = checkServiceDocument(value);
  const texts = possibleSecrets(value);
  const placeRedacted = (found: Finding): Problem =>
    redactProblem(locate(redactFinding(found, texts)), found.path);
  const all = [...problems.map(redactYamlProblem), ...locateAll(findings, placeRedacted)];
  const isRefused = all.some(({ severity }) => severity === 'error');
  return { config: isRefused || input === null ? null : resolveServiceConfig(input, path), problems: all };
}

/** Returns whether a YAML document is probably a service config: an object, but not one of Kubernetes. */
export function isServiceDocument(value: unknown): boolean {
  return isPlainObject(value) && value['apiVersion'] === undefined && value['kind'] === undefined;
}

/** Returns whether a string that is not valid YAML is probably a service config. */
export function mayBeServiceText(text: string): boolean {
  return !/^[ \t]*["']?(?:kind|apiVersion|spec)["']?[ \t]*:/m.test(text);
}

export function serviceFacts(config: ServiceConfig): ServiceFacts {
  return { sources: Object.values(config.prometheus), namespaces: config.kubernetes.namespaces };
}

function checkServiceDocument(value: unknown): {
  readonly findings: readonly Finding[];
  readonly input: ServiceInput | null;
} {
  const plain = readPlain(value);
  const checked = checkSchema(serviceSchema, plain.value, { show: describeValue });
  const earlier = [...plain.findings, ...checked.findings];
  // The rules need the config without defaults. The cast is safe, because all values have passed the schema.
  const written = checked.value === null ? checked.readable : plain.value;
  const input = isPlainObject(written) ? (written as ServiceInput) : {};
  const findings = [...earlier, ...checkServiceRules(input, brokenIn(earlier))];
  return { findings, input: checked.value === null ? null : input };
}
