import type { MetricSpec } from '../../scaler/spec.js';
import type { Clock } from '../../units/clock.js';
import type { Answer } from '../answers/answer.js';
import {
  describeLabels,
  type Duplicates,
  findContainerDuplicates,
  findQueryDuplicates,
} from './find-duplicates.js';
import { resourceQuery } from '../data-source/resource-queries.js';
import type { SourceConfig } from '../data-source/source-config.js';

/** A query that may count the same thing several times. */
export type Suspect =
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

export function resourceSuspect(resource: string, namespaces: readonly string[]): Suspect {
  return { kind: 'resource', key: `resource\n${resource}`, resource, namespaces };
}

export function querySuspect(query: string, type: MetricSpec['type']): Suspect {
  return { kind: 'query', key: `query\n${query}`, query, type };
}

type Ask = (query: string) => Promise<Answer>;

export interface DuplicateWatch {
  /** Checks one of the suspects if a check is due, in the background. */
  readonly checkOne: (suspects: readonly Suspect[], ask: Ask) => void;
  /**
   * Returns the first check of a resource, for which the caller waits, because duplicates would scale up immediately.
   * Null: already checked.
   */
  readonly firstCheck: (suspect: Suspect, ask: Ask) => Promise<void> | null;
  /** For resources with duplicates, replaces the query with the form that counts each container once. */
  readonly adaptConfig: (config: SourceConfig) => SourceConfig;
  /** Returns the finding for a namespace or query as a sentence; '': resolved; null: never any. */
  readonly describe: (suspect: Suspect, namespace: string) => string | null;
  /** The highest number of copies of any series; 1: no duplicates. */
  readonly highestCount: () => number;
}

/** Interval between two checks of a source. The queries of a hundred documents take about half an hour. */
const APART_MS = 20_000;
const AGAIN_MS = 600_000;
/** Findings of a deleted document are dropped after this time. */
const FORGET_MS = 7_200_000;
/** VictoriaMetrics rejects queries above 16 KiB, and a check contains the namespaces twice. */
const MAX_NAMESPACES = 100;

interface Look {
  atMs: number;
  seenMs: number;
  found: Duplicates | null;
  wasFound: boolean;
}

/** Creates a watch that never throws: `onFault` gets internal errors of a check, which then has no result. */
export function createDuplicateWatch(parts: {
  readonly config: () => SourceConfig;
  readonly clock: Clock;
  readonly onFault: (error: unknown) => void;
}): DuplicateWatch {
  const { config, clock, onFault } = parts;
  const looks = new Map<string, Look>();
  let nextMs = -Infinity;

  const running = new Map<string, Promise<void>>();
  const look = (suspect: Suspect, ask: Ask): Promise<void> => {
    const { key } = suspect;
    const done = lookNow(suspect, ask)
      .catch(onFault)
      .finally(() => running.delete(key));
    running.set(key, done);
    return done;
  };

  const lookNow = async (suspect: Suspect, ask: Ask): Promise<void> => {
    const nowMs = clock.monotonicMs();
    const { key } = suspect;
    const before = looks.get(key);
    const entry: Look = before ?? { atMs: nowMs, seenMs: nowMs, found: null, wasFound: false };
    entry.atMs = nowMs;
    looks.set(key, entry);
    try {
      entry.found = await find(config(), suspect, ask);
      entry.wasFound ||= entry.found !== null;
    } finally {
      nextMs = clock.monotonicMs() + APART_MS;
    }
  };

  return {
    checkOne: (suspects, ask) => {
      const nowMs = clock.monotonicMs();
      for (const suspect of suspects) {
        const known = looks.get(suspect.key);
        if (known !== undefined) known.seenMs = nowMs;
      }
      for (const [key, { seenMs }] of looks) if (nowMs - seenMs > FORGET_MS) looks.delete(key);
      if (running.size > 0 || nowMs < nextMs) return;
      let oldest: Suspect | null = null;
      let oldestMs = Infinity;
      for (const suspect of suspects) {
        const atMs = looks.get(suspect.key)?.atMs ?? -Infinity;
        if (atMs >= oldestMs) continue;
        oldest = suspect;
        oldestMs = atMs;
      }
      if (oldest !== null && nowMs - oldestMs >= AGAIN_MS) void look(oldest, ask);
    },
    firstCheck: (suspect, ask) => {
      const { key } = suspect;
      return looks.has(key) ? (running.get(key) ?? null) : look(suspect, ask);
    },
    adaptConfig: (given) => {
      const resources = Object.entries(given.onceQueries).filter(
        ([resource]) => looks.get(resourceSuspect(resource, []).key)?.found != null,
      );
      if (resources.length === 0) return given;
      return { ...given, resourceQueries: { ...given.resourceQueries, ...Object.fromEntries(resources) } };
    },
    describe: (suspect, namespace) => {
      const known = looks.get(suspect.key);
      if (known?.wasFound !== true) return null;
      const { found } = known;
      if (found === null || (suspect.kind === 'resource' && !found.namespaces.includes(namespace))) return '';
      return sentenceOf(found, suspect, config());
    },
    highestCount: () => [...looks.values()].reduce((most, { found }) => Math.max(most, found?.times ?? 1), 1),
  };
}

function find(config: SourceConfig, suspect: Suspect, ask: Ask): Promise<Duplicates | null> {
  if (suspect.kind === 'query') {
    const asWhole = suspect.type === 'External';
    return findQueryDuplicates(ask, suspect.query, { asWhole });
  }
  const namespaces = suspect.namespaces.slice(0, MAX_NAMESPACES);
  const query = resourceQuery(config, suspect.resource, namespaces);
  return query === null ? Promise.resolve(null) : findContainerDuplicates(ask, query);
}

function sentenceOf(found: Duplicates, suspect: Suspect, config: SourceConfig): string {
  const what =
    suspect.kind === 'resource' ? `each container's ${suspect.resource}` : 'each series of the query';
  const isOnce =
    !found.isAdded || (suspect.kind === 'resource' && Object.hasOwn(config.onceQueries, suspect.resource));
  const counted = isOnce ? 'only the largest is counted' : `counted ${found.times} times`;
  return `${what} has ${found.times} copies, by ${describeLabels(found)}: ${counted}`;
}
