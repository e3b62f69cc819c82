import type { MetricSpec } from '../../scaler/spec.js';
import type { Clock } from '../../units/clock.js';
import type { RunQuery } from '../answers/answer.js';
import {
  describeContainerDuplicates,
  describeLabels,
  type Duplicates,
  findContainerDuplicates,
  findQueryDuplicates,
} from './find-duplicates.js';
import { resourceQuery } from '../data-source/resource-queries.js';
import type { SourceConfig } from '../data-source/source-config.js';

export type DuplicateCandidate =
  | {
      readonly kind: 'resource';
      readonly key: string;
      readonly resource: string;
      readonly namespaces: readonly string[];
    }
  | {
      readonly kind: 'query';
      readonly key: string;
      readonly query: string;
      readonly type: MetricSpec['type'];
    };

export function resourceCandidate(resource: string, namespaces: readonly string[]): DuplicateCandidate {
  return { kind: 'resource', key: `resource\n${resource}`, resource, namespaces };
}

export function queryCandidate(query: string, type: MetricSpec['type']): DuplicateCandidate {
  return { kind: 'query', key: `query\n${query}`, query, type };
}

export interface DuplicateWatch {
  /** If a check is due, checks one of the candidates in the background. */
  readonly checkOne: (candidates: readonly DuplicateCandidate[], runQuery: RunQuery) => void;
  /**
   * Starts the first check of a resource; null: it was already checked. The caller waits for the end of the check,
   * because duplicates would cause an immediate scale-up.
   */
  readonly firstCheck: (candidate: DuplicateCandidate, runQuery: RunQuery) => Promise<void> | null;
  /** Returns the config in which the queries of resources with duplicates count each container once. */
  readonly adaptConfig: (config: SourceConfig) => SourceConfig;
  /** Returns a sentence about duplicates in a namespace or query; '': there are none now; null: there never were. */
  readonly describe: (candidate: DuplicateCandidate, namespace: string) => string | null;
  /** Returns the highest number of copies of one series; 1: there are no duplicates. */
  readonly highestCount: () => number;
}

/** Interval between two checks of a source. The queries of 100 documents are all checked within about half an hour. */
const APART_MS = 20_000;
const AGAIN_MS = 600_000;
/** A finding that no document has used for this time is dropped. */
const FORGET_MS = 7_200_000;
/**
 * Limits the query of a check, because it contains each namespace twice, and VictoriaMetrics rejects queries above 16
 * KiB.
 */
const MAX_NAMESPACES = 100;

interface Look {
  atMs: number;
  seenMs: number;
  found: Duplicates | null;
  wasFound: boolean;
}

/** Creates a watch that never throws. A check that fails with an internal error calls `onFault` and has no result. */
export function createDuplicateWatch(parts: {
  readonly config: () => SourceConfig;
  readonly clock: Clock;
  readonly onFault: (error: unknown) => void;
}): DuplicateWatch {
  const { config, clock, onFault } = parts;
  const looks = new Map<string, Look>();
  let nextMs = -Infinity;

  const running = new Map<string, Promise<void>>();
  const look = (candidate: DuplicateCandidate, runQuery: RunQuery): Promise<void> => {
    const { key } = candidate;
    const done = lookNow(candidate, runQuery)
      .catch(onFault)
      .finally(() => running.delete(key));
    running.set(key, done);
    return done;
  };

  const lookNow = async (candidate: DuplicateCandidate, runQuery: RunQuery): Promise<void> => {
    const nowMs = clock.monotonicMs();
    const { key } = candidate;
    const before = looks.get(key);
    const entry: Look = before ?? { atMs: nowMs, seenMs: nowMs, found: null, wasFound: false };
    entry.atMs = nowMs;
    looks.set(key, entry);
    try {
      entry.found = await find(config(), candidate, runQuery);
      entry.wasFound ||= entry.found !== null;
    } finally {
      nextMs = clock.monotonicMs() + APART_MS;
    }
  };

  return {
    checkOne: (candidates, runQuery) => {
      const nowMs = clock.monotonicMs();
      for (const candidate of candidates) {
        const known = looks.get(candidate.key);
        if (known !== undefined) known.seenMs = nowMs;
      }
      for (const [key, { seenMs }] of looks) if (nowMs - seenMs > FORGET_MS) looks.delete(key);
      if (running.size > 0 || nowMs < nextMs) return;
      let oldest: DuplicateCandidate | null = null;
      let oldestMs = Infinity;
      for (const candidate of candidates) {
        const atMs = looks.get(candidate.key)?.atMs ?? -Infinity;
        if (atMs >= oldestMs) continue;
        oldest = candidate;
        oldestMs = atMs;
      }
      if (oldest !== null && nowMs - oldestMs >= AGAIN_MS) void look(oldest, runQuery);
    },
    firstCheck: (candidate, runQuery) => {
      const { key } = candidate;
      return looks.has(key) ? (running.get(key) ?? null) : look(candidate, runQuery);
    },
    adaptConfig: (given) => {
      const resources = Object.entries(given.onceQueries).filter(
        ([resource]) => looks.get(resourceCandidate(resource, []).key)?.found != null,
      );
      if (resources.length === 0) return given;
      return { ...given, resourceQueries: { ...given.resourceQueries, ...Object.fromEntries(resources) } };
    },
    describe: (candidate, namespace) => {
      const known = looks.get(candidate.key);
      if (known?.wasFound !== true) return null;
      const { found } = known;
      if (found === null || (candidate.kind === 'resource' && !found.namespaces.includes(namespace)))
        return '';
      return sentenceOf(found, candidate, config());
    },
    highestCount: () => [...looks.values()].reduce((most, { found }) => Math.max(most, found?.times ?? 1), 1),
  };
}

function find(
  config: SourceConfig,
  candidate: DuplicateCandidate,
  runQuery: RunQuery,
): Promise<Duplicates | null> {
  if (candidate.kind === 'query') {
    const asWhole = candidate.type === 'External';
    return findQueryDuplicates(runQuery, candidate.query, { asWhole });
  }
  const namespaces = candidate.namespaces.slice(0, MAX_NAMESPACES);
  const query = resourceQuery(config, candidate.resource, namespaces);
  return query === null ? Promise.resolve(null) : findContainerDuplicates(runQuery, query);
}

function sentenceOf(found: Duplicates, candidate: DuplicateCandidate, config: SourceConfig): string {
  const { times, isAdded } = found;
  if (candidate.kind === 'query')
    return `each series of the query has ${times} copies, which differ in ${describeLabels(found)}: the value is counted ${times} times`;
  const isOnce = !isAdded || Object.hasOwn(config.onceQueries, candidate.resource);
  const counted = isOnce ? 'only the largest is counted' : `the usage is counted up to ${times} times`;
  return `${describeContainerDuplicates(found, candidate.resource)}: ${counted}`;
}
