import { isPlainObject, valueAt } from '../../scaler/plain-json.js';
import type { Problem } from '../../scaler/problems/problem.js';
import { readYaml } from '../../scaler/yaml/read-yaml.js';
import { type AdapterConfig, readAdapter } from './read-adapter.js';

interface ReadAdapterText {
  /** Null: the file contains no rules. */
  readonly config: AdapterConfig | null;
  readonly problems: readonly Problem[];
}

const RULE_FIELDS = ['rules', 'externalRules', 'resourceRules'];

/** Reads the config file of prometheus-adapter, a ConfigMap that contains it, or the values of its Helm chart. */
export function readAdapterText(text: string, file: string): ReadAdapterText {
  const documents = readYaml(text, file);
  const problems = documents.flatMap((document) => document.problems);
  const found = documents.map(({ value }) => value).find((value) => value !== undefined);
  const inner = valueAt(found, ['data', 'config.yaml']);
  if (typeof inner === 'string' && valueAt(found, ['kind']) === 'ConfigMap')
    return readAdapterText(inner, file);
  const hasRules = isPlainObject(found) && RULE_FIELDS.some((field) => Object.hasOwn(found, field));
  return { config: hasRules ? readAdapter(found) : null, problems };
}
