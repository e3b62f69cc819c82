import { quoteRegex } from '../promql/quoting.js';
import { largestWrittenRangeSeconds } from '../promql/ranges.js';
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

/**
 * The length of the rate window of a resource's query: that of `$window`, else what `resourceWindows` says, else the
 * largest range that is written in it; 0 for an instantaneous gauge.
 */
export function resourceWindowSeconds(source: SourceConfig, resource: string): number {
  if (takesWindow(source, resource)) return source.resourceWindowSeconds;
  const { resourceWindows = {} } = source;
  const stated = Object.hasOwn(resourceWindows, resource) ? resourceWindows[resource] : undefined;
  return stated ?? factsOf(source, resource)?.writtenSeconds ?? 0;
}

/** Whether the window of a resource's query is `resourceWindowSeconds`. */
export function takesWindow(source: SourceConfig, resource: string): boolean {
  return hasVariable(source, resource, 'window');
}

/** Whether a resource's query is asked for some namespaces at a time. */
export function isByNamespace(source: SourceConfig, resource: string): boolean {
  return hasVariable(source, resource, 'namespaces');
}

function hasVariable(source: SourceConfig, resource: string, name: string): boolean {
  return factsOf(source, resource)?.variables.has(name) === true;
}

interface TemplateFacts {
  readonly variables: ReadonlySet<string>;
  readonly writtenSeconds: number;
}

const factsOfTemplates = new Map<string, TemplateFacts>();

/** Few queries, of the service config alone, so what they hold is found out once. */
function factsOf(source: SourceConfig, resource: string): TemplateFacts | null {
  const query = templateOf(source, resource);
  if (query === null) return null;
  const known = factsOfTemplates.get(query);
  if (known !== undefined) return known;
  const variables = new Set(listVariables(query).map(({ name }) => name));
  const facts = { variables, writtenSeconds: largestWrittenRangeSeconds(query) };
  factsOfTemplates.set(query, facts);
  return facts;
}

function templateOf(source: SourceConfig, resource: string): string | null {
  return Object.hasOwn(source.resourceQueries, resource) ? (source.resourceQueries[resource] ?? null) : null;
}
