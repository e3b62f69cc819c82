import { quoteRegex } from '../promql/quoting.js';
import { listVariables, substitute } from '../promql/variables.js';
import type { SourceConfig } from './source-config.js';

/** The query of a resource for some namespaces; null where the source has none for it. */
export function resourceQuery(
  source: SourceConfig,
  resource: string,
  namespaces: readonly string[],
): string | null {
  const query = templateOf(source, resource);
  if (query === null) return null;
  return substitute(query, {
    namespaces: namespacesPattern(namespaces),
    window: `${source.resourceWindowSeconds}s`,
  });
}

/** The value of `$namespaces`: each namespace and nothing else, sorted, so that the same set gives the same query. */
export function namespacesPattern(namespaces: readonly string[]): string {
  return namespaces.toSorted().map(quoteRegex).join('|');
}

/** The length of the rate window of a resource's query: 0 where it is an instantaneous gauge. */
export function resourceWindowSeconds(source: SourceConfig, resource: string): number {
  return hasVariable(source, resource, 'window') ? source.resourceWindowSeconds : 0;
}

/** Whether a resource's query is asked for some namespaces at a time. */
export function isByNamespace(source: SourceConfig, resource: string): boolean {
  return hasVariable(source, resource, 'namespaces');
}

const variableNames = new Map<string, ReadonlySet<string>>();

/** Few queries, of the service config alone, so what they hold is found out once. */
function hasVariable(source: SourceConfig, resource: string, name: string): boolean {
  const query = templateOf(source, resource);
  if (query === null) return false;
  let names = variableNames.get(query);
  if (names === undefined) {
    names = new Set(listVariables(query).map((variable) => variable.name));
    variableNames.set(query, names);
  }
  return names.has(name);
}

function templateOf(source: SourceConfig, resource: string): string | null {
  return Object.hasOwn(source.resourceQueries, resource) ? (source.resourceQueries[resource] ?? null) : null;
}
