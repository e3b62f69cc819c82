import type { TargetRef } from '../scaler/spec.js';
import type { Awaitable } from '../units/awaitable.js';
import type { Clock } from '../units/clock.js';
import { createHpaStore, type HpaStore } from './hpa-store.js';
import { HPA_PLURAL, HPA_ROOT, listHpas, readWatchedHpa } from './hpa.js';
import type { Log } from '../units/log.js';
import { rateLimitMs } from './requests/rate-limit.js';
import { createRefusals, type Refusals } from './requests/refusals.js';
import type { Transport } from './requests/transport.js';
import { groupOf } from './targets.js';
import { KubernetesError, type OtherScaler } from './api/types.js';
import { createInformers, type Informer } from './watch/informers.js';

interface OtherScalers {
  /** Watches the HPAs of scalers in dry run, until `signal` is aborted. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  /** Sets the targets of scalers in dry run, whose HPAs are watched. */
  readonly compare: (targets: readonly ComparedTarget[]) => void;
  /**
   * Returns the HPAs, as watched or as listed at most once a minute. Empty until a list has succeeded, and for ten
   * minutes if HPAs are forbidden or not served, which is no failure of the target. Rejects only after an internal
   * error.
   */
  readonly list: (namespace: string) => Awaitable<readonly OtherScaler[]>;
}

interface ComparedTarget {
  readonly namespace: string;
  readonly ref: TargetRef;
}

interface OtherScalersOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly log: Log;
  readonly isClusterWide: () => boolean;
}

type ByNamespace = ReadonlyMap<string, readonly OtherScaler[]>;

const FRESH_MS = 60_000;
const REFUSED_MS = 600_000;
/** Delay after a failure before the first list. */
const RETRY_MS = 10_000;
/** A watch that has been silent for longer may be stalled. Source: reliability.md, K12. */
const STALE_SECONDS = 180;

const NONE: readonly OtherScaler[] = [];

interface Entry {
  dueMs: number;
  known: ByNamespace | null;
  listing: Promise<ByNamespace> | null;
  isFailing: boolean;
  readonly refusals: Refusals;
}

/** Sends no request before the first call. A failure is logged once and keeps the last list. */
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
  /** By namespace: whether `list` contains an HPA for a scaler in dry run. */
  const comparisons = new Map<
    string,
    { readonly list: readonly OtherScaler[]; readonly isCompared: boolean }
  >();

  const entryOf = (scope: string | null): Entry => {
    const known = entries.get(scope);
    if (known !== undefined) return known;
    const refusals = createRefusals(clock);
    const entry: Entry = { dueMs: 0, known: null, listing: null, isFailing: false, refusals };
    entries.set(scope, entry);
    return entry;
  };

  const listAgain = async (
    namespace: string,
    scope: string | null,
    entry: Entry,
  ): Promise<readonly OtherScaler[]> => {
    entry.listing ??= list(options, scope, entry);
    await entry.listing;
    return lookAt(namespace, entry.known?.get(namespace) ?? NONE);
  };

  const want = (): void => {
    const namespaces = [...comparisons].filter(([, { isCompared }]) => isCompared).map(([name]) => name);
    informers.want(isClusterWide() && namespaces.length > 0 ? [null] : namespaces);
  };

  const lookAt = (namespace: string, list: readonly OtherScaler[]): readonly OtherScaler[] => {
    const before = comparisons.get(namespace);
    if (before?.list === list) return list;
    const targets = compared.get(namespace);
    const isCompared = targets !== undefined && list.some(({ target }) => targets.has(keyOf(target)));
    comparisons.set(namespace, { list, isCompared });
    if (isCompared !== (before?.isCompared ?? false)) want();
    return list;
  };

  return {
    run: informers.run,
    compare: (targets) => {
      compared = groupTargets(targets);
      // A copy: lookAt adds the namespace again, and the iteration of a map would not end.
      for (const [namespace, { list, isCompared }] of [...comparisons]) {
        comparisons.delete(namespace);
        if (compared.has(namespace)) lookAt(namespace, list);
        else if (isCompared) want();
      }
    },
    list: (namespace) => {
      const informer = informers.of(namespace);
      const scope = isClusterWide() ? null : namespace;
      const entry = entryOf(scope);
      if (informer !== null && isReliable(informer)) {
        // When the watch ends, a list from before it is outdated.
        entry.dueMs = 0;
        return lookAt(namespace, informer.store.of(namespace));
      }
      if (clock.monotonicMs() >= entry.dueMs) return listAgain(namespace, scope, entry);
      return lookAt(namespace, entry.known?.get(namespace) ?? NONE);
    },
  };
}

async function list(
  { transport, clock, log }: OtherScalersOptions,
  scope: string | null,
  entry: Entry,
): Promise<ByNamespace> {
  try {
    // Not canceled by the caller, because other callers may wait for the same list. Each page has its own
    // deadline.
    entry.known = groupByNamespace(await listHpas(transport, scope, new AbortController().signal));
    entry.dueMs = clock.monotonicMs() + FRESH_MS;
    entry.refusals.clear();
    if (entry.isFailing) log.info('HPAs are listed again', { namespace: scope });
    entry.isFailing = false;
  } catch (error) {
    if (!(error instanceof KubernetesError)) throw error;
    const { ms, isLasting } = settle(error, entry);
    entry.dueMs = clock.monotonicMs() + ms;
    if (isLasting && !entry.isFailing)
      log.warn('failed to list HPAs', { namespace: scope, error: error.message });
    entry.isFailing ||= isLasting;
  } finally {
    entry.listing = null;
  }
  return entry.known ?? new Map();
}

/**
 * Returns the milliseconds until the next request, and whether the failure is lasting: a server that is starting may
 * answer 403 or 404.
 */
function settle(error: KubernetesError, entry: Entry): { readonly ms: number; readonly isLasting: boolean } {
  const { kind } = error;
  const { refusals } = entry;
  if (kind === 'forbidden' || kind === 'not_found') {
    if (!refusals.note()) return { ms: refusals.retryMs(), isLasting: false };
    entry.known = new Map();
    return { ms: REFUSED_MS, isLasting: true };
  }
  refusals.clear();
  const failedMs = entry.known === null ? RETRY_MS : FRESH_MS;
  return { ms: rateLimitMs(error) ?? failedMs, isLasting: true };
}

/** A store whose watch fails is outdated. */
function isReliable({ reflector }: Informer<HpaStore>): boolean {
  return reflector.isSynced() && reflector.failure() === null && reflector.ageSeconds() <= STALE_SECONDS;
}

function fixForWatch({ kind }: KubernetesError): string | null {
  return kind === 'forbidden'
    ? 'set the chart value rbac.create: true (list and watch on horizontalpodautoscalers); until then HPAs are listed once a minute'
    : null;
}

/** Without the version, because a group may have several. */
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
