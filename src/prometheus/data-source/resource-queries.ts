import { quoteRegex } from '../../promql/quoting.js';
import { largestWrittenRangeSeconds } from '../../promql/ranges.js';
import { listVariables, substitute } from '../../promql/variables.js';
import type { SourceConfig } from './source-config.js';

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

/** Returns the value of `$namespaces`, sorted so that the same namespaces always result in the same query. */
export function namespacesPattern(namespaces: readonly string[]): string {
  return namespaces.toSorted().map(quoteRegex).join('|');
}

/**
 * Returns the rate window of a resource query in seconds: from `$window`, otherwise from `resourceWindows`, otherwise
 * the largest range in the query; 0 for a gauge.
 */
export function resourceWindowSeconds(source: SourceConfig, resource: string): number {
  if (takesWindow(source, resource)) return source.resourceWindowSeconds;
  const { resourceWindows = {} } = source;
  const stated = Object.hasOwn(resourceWindows, resource) ? resourceWindows[resource] : undefined;
  return stated ?? factsOf(source, resource)?.writtenSeconds ?? 0;
}

export function takesWindow(source: SourceConfig, resource: string): boolean {
  return hasVariable(source, resource, 'window');
}

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

/** Caches the facts without a limit, because only the service config contains resource queries. */
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
