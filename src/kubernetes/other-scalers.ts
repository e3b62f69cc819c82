import type { TargetRef } from '../scaler/spec.js';
import type { Clock } from '../units/clock.js';
import { createHpaStore, type HpaStore } from './hpa-store.js';
import { HPA_PLURAL, HPA_ROOT, listHpas, readWatchedHpa } from './hpa.js';
import type { Log } from '../units/log.js';
import { rateLimitMs } from './requests/rate-limit.js';
import { createRefusals, type Refusals } from './requests/refusals.js';
import type { Transport } from './requests/transport.js';
import { groupOf } from './targets.js';
import { KubernetesError, type OtherScaler } from './types.js';
import { createInformers, type Informer } from './watch/informers.js';

/** The HPAs of a namespace. */
export interface OtherScalers {
  /** Watches where a comparison asks for it, until `signal` is aborted. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  /** The targets of scalers in dry run: an HPA of one of them is watched. */
  readonly compare: (targets: readonly ComparedTarget[]) => void;
  /**
   * As watched, or as last seen, listed at most once a minute; empty for ten minutes where it is forbidden or not served,
   * and while no answer ever came. Rejects on a fault of our own only: what cannot be looked for is no failure of a target.
   */
  readonly list: (namespace: string) => Promise<readonly OtherScaler[]>;
}

export interface ComparedTarget {
  readonly namespace: string;
  readonly ref: TargetRef;
}

export interface OtherScalersOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether one request answers for all namespaces. */
  readonly isClusterWide: () => boolean;
}

type ByNamespace = ReadonlyMap<string, readonly OtherScaler[]>;

const FRESH_MS = 60_000;
const REFUSED_MS = 600_000;
/** While nothing is known yet. */
const RETRY_MS = 10_000;
/** A watch that has brought nothing for so long may be deaf. Source: reliability.md, K12. */
const STALE_SECONDS = 180;

const NONE: readonly OtherScaler[] = [];

interface Entry {
  /** Until when no new request is made. */
  dueMs: number;
  known: ByNamespace | null;
  asking: Promise<ByNamespace> | null;
  /** The last request failed, which was told. */
  isFailing: boolean;
  readonly refusals: Refusals;
}

/** Nothing is asked before the first call. A failure leaves what was known in force, and is told once. */
export function createOtherScalers(options: OtherScalersOptions): OtherScalers {
  const { clock, isClusterWide } = options;
  const entries = new Map<string | null, Entry>();
  const informers = createInformers({
    ...options,
    root: HPA_ROOT,
    plural: HPA_PLURAL,
    createStore: createHpaStore,
    convert: readWatchedHpa,
    fixFor: fixForWatch,
  });
  let compared: ReadonlyMap<string, ReadonlySet<string>> = new Map();
  /** The namespaces where a scaler in dry run is next to an HPA, by the list that was looked at. */
  const lookedAt = new Map<string, { readonly list: readonly OtherScaler[]; readonly isCompared: boolean }>();

  const entryOf = (scope: string | null): Entry => {
    const refusals = createRefusals(clock);
    const fresh: Entry = { dueMs: 0, known: null, asking: null, isFailing: false, refusals };
    const entry = entries.get(scope) ?? fresh;
    entries.set(scope, entry);
    return entry;
  };

  const listed = async (namespace: string): Promise<readonly OtherScaler[]> => {
    const scope = isClusterWide() ? null : namespace;
    const entry = entryOf(scope);
    if (clock.monotonicMs() >= entry.dueMs) {
      entry.asking ??= ask(options, scope, entry);
      await entry.asking;
    }
    return entry.known?.get(namespace) ?? NONE;
  };

  const want = (): void => {
    const namespaces = [...lookedAt].filter(([, { isCompared }]) => isCompared).map(([name]) => name);
    informers.want(isClusterWide() && namespaces.length > 0 ? [null] : namespaces);
  };

  const lookAt = (namespace: string, list: readonly OtherScaler[]): void => {
    const before = lookedAt.get(namespace);
    if (before?.list === list) return;
    const targets = compared.get(namespace);
    const isCompared = targets !== undefined && list.some(({ target }) => targets.has(keyOf(target)));
    lookedAt.set(namespace, { list, isCompared });
    if (isCompared !== (before?.isCompared ?? false)) want();
  };

  return {
    run: informers.run,
    compare: (targets) => {
      compared = groupTargets(targets);
      for (const [namespace, { list, isCompared }] of lookedAt) {
        lookedAt.delete(namespace);
        if (compared.has(namespace)) lookAt(namespace, list);
        else if (isCompared) want();
      }
    },
    list: async (namespace) => {
      const informer = informers.of(namespace);
      const isWatched = informer !== null && isReliable(informer);
      const list = isWatched ? informer.store.of(namespace) : await listed(namespace);
      // What was listed before the watch is no answer after it.
      if (isWatched) entryOf(isClusterWide() ? null : namespace).dueMs = 0;
      lookAt(namespace, list);
      return list;
    },
  };
}

async function ask(
  { transport, clock, log }: OtherScalersOptions,
  scope: string | null,
  entry: Entry,
): Promise<ByNamespace> {
  try {
    // Other callers wait for the same list, so no single caller may cancel it; each page has its deadline.
    entry.known = groupByNamespace(await listHpas(transport, scope, new AbortController().signal));
    entry.dueMs = clock.monotonicMs() + FRESH_MS;
    entry.refusals.clear();
    if (entry.isFailing) log.info('HPAs are listed again', { namespace: scope });
    entry.isFailing = false;
  } catch (error) {
    if (!(error instanceof KubernetesError)) throw error;
    const { ms, isBelieved } = settle(error, entry);
    entry.dueMs = clock.monotonicMs() + ms;
    if (isBelieved && !entry.isFailing)
      log.warn('failed to list HPAs', { namespace: scope, error: error.message });
    entry.isFailing ||= isBelieved;
  } finally {
    entry.asking = null;
  }
  return entry.known ?? new Map();
}

/** Milliseconds until the next request; not believed: a 403 or 404 that may be of a server that has just started. */
function settle(error: KubernetesError, entry: Entry): { readonly ms: number; readonly isBelieved: boolean } {
  const { kind } = error;
  const { refusals } = entry;
  if (kind === 'forbidden' || kind === 'not_found') {
    if (!refusals.note()) return { ms: refusals.retryMs(), isBelieved: false };
    entry.known = new Map();
    return { ms: REFUSED_MS, isBelieved: true };
  }
  refusals.clear();
  const failedMs = entry.known === null ? RETRY_MS : FRESH_MS;
  return { ms: rateLimitMs(error) ?? failedMs, isBelieved: true };
}

/** A watch that is forbidden where a list is allowed leaves what it once knew. */
function isReliable({ reflector }: Informer<HpaStore>): boolean {
  return reflector.isSynced() && reflector.failure() === null && reflector.ageSeconds() <= STALE_SECONDS;
}

function fixForWatch({ kind }: KubernetesError): string | null {
  return kind === 'forbidden'
    ? 'chart value rbac.create: true (list and watch on horizontalpodautoscalers); until then they are listed once a minute'
    : null;
}

/** The API server knows a group under several versions. */
function keyOf(ref: TargetRef): string {
  return `${groupOf(ref)}/${ref.kind}/${ref.name}`;
}

function groupTargets(targets: readonly ComparedTarget[]): ReadonlyMap<string, ReadonlySet<string>> {
  const groups = new Map<string, Set<string>>();
  for (const { namespace, ref } of targets) {
    const group = groups.get(namespace) ?? new Set();
    groups.set(namespace, group.add(keyOf(ref)));
  }
  return groups;
}

function groupByNamespace(scalers: readonly OtherScaler[]): ByNamespace {
  const groups = new Map<string, OtherScaler[]>();
  for (const scaler of scalers) {
    const group = groups.get(scaler.namespace);
    if (group === undefined) groups.set(scaler.namespace, [scaler]);
    else group.push(scaler);
  }
  return groups;
}
