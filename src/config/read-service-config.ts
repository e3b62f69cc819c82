import { checkSchema } from '../scaler/schema/check-schema.js';
import { type Finding, type Path, finding } from '../scaler/problems/finding.js';
import { isPlainObject, readPlain } from '../scaler/plain-json.js';
import { internalErrorMessage } from '../scaler/problems/internal-error.js';
import type { Problem } from '../scaler/problems/problem.js';
import { type LocatedDocument, placeAll } from '../scaler/problems/located-document.js';
import { readYaml } from '../scaler/yaml/read-yaml.js';
import type { ServiceFacts } from '../scaler/rules/admission-rules.js';
import { type ServiceConfig, resolveServiceConfig } from './resolve-service-config.js';
import { describeValue, hiddenTexts, hideInFinding, hideInProblem, hideInSyntax } from './redact-values.js';
import { checkServiceRules } from './service-rules.js';
import { type ServiceInput, serviceSchema } from './service-schema.js';

/** A service config, where nothing is wrong with it but for warnings. */
export interface ReadServiceConfig {
  readonly config: ServiceConfig | null;
  readonly problems: readonly Problem[];
}

/**
 * The service config of a YAML text, or all that is wrong with it at once. `file` is what the user calls it; relative
 * paths in it are joined to `path`'s folder, the path it was read from, which is `file` unless given. An empty text is
 * a config in which every value has its default.
 */
export function readServiceConfig(text: string, file: string, path: string = file): ReadServiceConfig {
  const documents = readYaml(text, file);
  const [document, second] = documents;
  if (document === undefined) return { config: resolveServiceConfig({}, path), problems: [] };
  if (second !== undefined) {
    const message = 'a service config is one YAML document, this is the second one';
    return {
      config: null,
      problems: [hideInProblem(second.place(finding('wrong-settings', [], message)), null)],
    };
  }
  return readServiceDocument(document, path);
}

/** The same of a YAML document that was read already. */
export function readServiceDocument(
  { value, problems, place }: LocatedDocument,
  path: string,
): ReadServiceConfig {
  if (value === undefined) return { config: null, problems: problems.map(hideInSyntax) };
  try {
    return readValue({ value, problems, place }, path);
  } catch (cause) {
    // What was thrown may repeat a value, which may be a secret.
    const name = cause instanceof Error ? cause.name : typeof cause;
    return { config: null, problems: [place(finding('internal-error', [], internalErrorMessage(name)))] };
  }
}

function readValue({ value, problems, place }: LocatedDocument, path: string): ReadServiceConfig {
  const { findings, input } = checkServiceDocument(value);
  const texts = hiddenTexts(value);
  const placeHidden = (found: Finding): Problem =>
    hideInProblem(place(hideInFinding(found, texts)), found.path);
  const all = [...problems.map(hideInSyntax), ...placeAll(findings, placeHidden)];
  const isRefused = all.some(({ severity }) => severity === 'error');
  return { config: isRefused || input === null ? null : resolveServiceConfig(input, path), problems: all };
}

/** Whether a YAML document is meant as a service config: a mapping that is no Kubernetes object. */
export function isServiceDocument(value: unknown): boolean {
  return isPlainObject(value) && value['apiVersion'] === undefined && value['kind'] === undefined;
}

/** Whether a broken YAML text, of which nothing could be read, is to be treated as a service config. */
export function mayBeServiceText(text: string): boolean {
  return !/^[ \t]*["']?(?:kind|apiVersion|spec)["']?[ \t]*:/m.test(text);
}

/** What the documents are checked against. */
export function serviceFacts(config: ServiceConfig): ServiceFacts {
  return { sources: Object.values(config.prometheus), namespaces: config.kubernetes.namespaces };
}

function checkServiceDocument(value: unknown): {
  readonly findings: readonly Finding[];
  readonly input: ServiceInput | null;
} {
  const plain = readPlain(value);
  const checked = checkSchema(serviceSchema, plain.value, describeValue);
  const earlier = [...plain.findings, ...checked.findings];
  const isBroken = (path: Path): boolean =>
    earlier.some((other) => path.every((step, index) => other.path[index] === step));
  // What is left in `readable` has passed the schema, piece by piece.
  const readable = isPlainObject(checked.readable) ? (checked.readable as ServiceInput) : {};
  return { findings: [...earlier, ...checkServiceRules(readable, isBroken)], input: checked.value };
}
