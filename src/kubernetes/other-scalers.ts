import type { Clock } from '../units/clock.js';
import { countIn, objectIn, objectsIn, textIn, type JsonObject } from './json.js';
import { listAll, resourceScope } from './watch/list-pages.js';
import type { Log } from './log.js';
import type { Transport } from './requests/transport.js';
import { KubernetesError, type OtherScaler } from './types.js';

/** The HPAs of a namespace, or (null) of the cluster. */
export interface OtherScalers {
  /**
   * As last seen, asked at most once a minute; empty for ten minutes where it is forbidden or not served, and while no
   * answer ever came. Rejects on a fault of our own only: what cannot be looked for is no failure of a target.
   */
  readonly list: (scope: string | null) => Promise<ByNamespace>;
}

export type ByNamespace = ReadonlyMap<string, readonly OtherScaler[]>;

const FRESH_MS = 60_000;
const REFUSED_MS = 600_000;
/** While nothing is known yet. */
const RETRY_MS = 10_000;

interface Entry {
  /** Until when no new request is made. */
  dueMs: number;
  known: ByNamespace | null;
  asking: Promise<ByNamespace> | null;
  /** The last request failed, which was told. */
  isFailing: boolean;
}

/** Nothing is asked before the first call. A failure leaves what was known in force, and is told once. */
export function createOtherScalers(transport: Transport, clock: Clock, log: Log): OtherScalers {
  const entries = new Map<string | null, Entry>();

  const ask = async (scope: string | null, entry: Entry): Promise<ByNamespace> => {
    try {
      const { items } = await listAll({
        transport,
        scope: resourceScope('/apis/autoscaling/v2', 'horizontalpodautoscalers', scope),
        convert: readHorizontalPodAutoscaler,
        // Others wait for the same answer, so no single caller may cancel it; each page has its deadline.
        signal: new AbortController().signal,
      });
      entry.known = groupByNamespace(items);
      entry.dueMs = clock.monotonicMs() + FRESH_MS;
      if (entry.isFailing) log.info({ scope }, 'other autoscalers are looked for again');
      entry.isFailing = false;
    } catch (error) {
      if (!(error instanceof KubernetesError)) throw error;
      const isRefused = ['forbidden', 'not_found'].includes(error.kind);
      if (isRefused) entry.known = new Map();
      if (!entry.isFailing)
        log.warn({ scope, problem: error.message }, 'other autoscalers cannot be looked for');
      entry.isFailing = true;
      const knownMs = entry.known === null ? RETRY_MS : FRESH_MS;
      entry.dueMs = clock.monotonicMs() + (isRefused ? REFUSED_MS : knownMs);
    } finally {
      entry.asking = null;
    }
    return entry.known ?? new Map();
  };

  return {
    list: (scope) => {
      const entry = entries.get(scope) ?? { dueMs: 0, known: null, asking: null, isFailing: false };
      entries.set(scope, entry);
      if (clock.monotonicMs() < entry.dueMs) return Promise.resolve(entry.known ?? new Map());
      entry.asking ??= ask(scope, entry);
      return entry.asking;
    },
  };
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

/** A ScaledObject works through an HPA that it owns: it is named instead, for that is what has to go. */
export function readHorizontalPodAutoscaler(object: JsonObject): OtherScaler | null {
  const metadata = objectIn(object, 'metadata');
  const namespace = textIn(metadata, 'namespace') ?? '';
  const name = textIn(metadata, 'name') ?? '';
  const target = objectIn(objectIn(object, 'spec'), 'scaleTargetRef');
  const kind = textIn(target, 'kind') ?? '';
  const targetName = textIn(target, 'name') ?? '';
  if (namespace === '' || name === '' || kind === '' || targetName === '') return null;
  const owner = objectsIn(metadata, 'ownerReferences').find((reference) => reference['controller'] === true);
  const ownerKind = owner === undefined ? null : textIn(owner, 'kind');
  const ownerName = owner === undefined ? null : textIn(owner, 'name');
  const desired = countIn(objectIn(object, 'status'), 'desiredReplicas');
  return {
    kind: ownerKind ?? 'HorizontalPodAutoscaler',
    namespace,
    name: ownerName ?? name,
    target: { apiVersion: textIn(target, 'apiVersion') ?? '', kind, name: targetName },
    ...(desired === null ? {} : { desiredReplicas: desired }),
  };
}
