import type { MetricQueries } from './named-metric.js';
import { isPlainObject, valueAt } from '../../scaler/plain-json.js';

/** What an import needs besides the manifest. */
export interface ImportContext {
  /** Namespace of the objects that do not contain a namespace. */
  readonly namespace: string;
  readonly isNamespaceGiven: boolean;
  readonly queries: MetricQueries;
  /** The data source for each address that a ScaledObject queries. */
  readonly sources: SourceNames;
  readonly isDryRun: boolean;
}

/** Maps addresses of Prometheus to names of data sources. */
export type SourceNames = ReadonlyMap<string, string>;

export const DEFAULT_SOURCE = 'default';

/**
 * Gives each address in the prometheus triggers of the objects a name: `default` for the most frequent address, and the
 * host name for the others.
 */
export function nameSources(objects: readonly unknown[]): SourceNames {
  const counts = new Map<string, number>();
  for (const address of objects.flatMap(addressesOf)) counts.set(address, (counts.get(address) ?? 0) + 1);
  const [first, ...others] = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  const names = new Map(first === undefined ? [] : [[first[0], DEFAULT_SOURCE]]);
  const taken = new Set([DEFAULT_SOURCE]);
  for (const [address] of others) {
    const name = unused(hostName(address), taken);
    taken.add(name);
    names.set(address, name);
  }
  return names;
}

function addressesOf(object: unknown): readonly string[] {
  if (valueAt(object, ['kind']) !== 'ScaledObject') return [];
  const triggers = valueAt(object, ['spec', 'triggers']);
  return (Array.isArray(triggers) ? (triggers as readonly unknown[]) : []).flatMap((trigger) => {
    const address = valueAt(trigger, ['metadata', 'serverAddress']);
    return isPlainObject(trigger) && typeof address === 'string' ? [normalAddress(address)] : [];
  });
}

/** Normalizes an address, so that different spellings of the same address are equal. */
export function normalAddress(address: string): string {
  return address.trim().replace(/\/$/, '');
}

function hostName(address: string): string {
  // Nothing of a value that is not a URL is used, because it may contain a password.
  const host = URL.canParse(address) ? new URL(address).hostname : '';
  const name = host
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, '-')
    .slice(0, 50)
    .replaceAll(/^-|-$/g, '');
  return /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/.test(name) ? name : 'prometheus';
}

function unused(name: string, taken: ReadonlySet<string>): string {
  let free = name;
  for (let count = 2; taken.has(free); count += 1) free = `${name}-${count}`;
  return free;
}
