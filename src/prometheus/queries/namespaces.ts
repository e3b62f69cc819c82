import { type Answer, answerLimits } from '../answers/answer.js';
import { createMergedQuery, type MergedRound } from './merged-query.js';
import type { TimedAnswer } from '../source/queue.js';
import { resourceQuery } from '../data-source/resource-queries.js';
import { columnsOf } from '../answers/columns.js';
import type { SourceConfig } from '../data-source/source-config.js';
import { RecentMap } from '../../units/recent-map.js';
import { type Instant, instantFromMs } from '../../units/time.js';

/** Queries one resource in many namespaces, with as few queries as the limit of series per answer allows. */
export interface NamespaceQueries {
  /** Sends the queries. Maps each of `namespaces` to its answer. */
  readonly sendForNamespaces: (
    /** Maps namespaces to their number of scalers. If nothing has changed, it is the map object of the last round. */
    namespaces: ReadonlyMap<string, number>,
    options: Pick<MergedRound, 'round' | 'budget'> & {
      readonly source: SourceConfig;
      readonly query: (text: string) => Promise<TimedAnswer>;
      readonly now: Instant;
    },
  ) => ReadonlyMap<string, Promise<Answer>>;
}

/** A new query is planned for at most this share of `maxSeries`, so that its answer may grow between two rounds. */
const AIMED_SHARE = 0.75;
const LEAST_AIMED_SERIES = 1000;
/**
 * After an answer was too large, fewer series are planned for each query. After this number of rounds, twice as many
 * are tried, because the answers may have become smaller.
 */
const LOWERED_ROUNDS = 20;
/** A query is kept until its answer exceeds the planned share by this factor (90 % of `maxSeries`). */
const KEPT_EXCESS = 1.2;

/**
 * The number of series of a scaler that is assumed before the first answer: 10 pods with 2 containers. One query for
 * all pods could be too large.
 */
const SERIES_PER_SCALER = 20;

/** VictoriaMetrics rejects queries above 16 KiB. */
const MAX_PATTERN_LENGTH = 12_000;

/**
 * Creates the queries for one resource of one data source. The number of namespaces in a query depends on how many
 * series each namespace had in its last answer. Before the first answer, a number of series for each scaler is assumed.
 */
export function createNamespaceQueries(
  resource: string,
  onFault: (error: unknown) => void,
): NamespaceQueries {
  const merged = createMergedQuery({ noun: 'namespaces', onTooMany: () => undefined, onFault });
  /** The number of series of each namespace. Namespaces that are no longer queried are forgotten. */
  const seriesOf = new RecentMap<string, number>();
  /** Start of the last round. */
  let now = instantFromMs(0);
  let mostSeries = Infinity;
  let aimedSeries = Infinity;
  let loweredRounds = 0;

  let packs: readonly (readonly string[])[] = [];

  const expectedOf = (namespace: string, scalers: number): number =>
    seriesOf.get(namespace, now) ?? SERIES_PER_SCALER * scalers;

  const packAnew = (scalers: Scalers): readonly (readonly string[])[] => {
    const fresh: string[][] = [];
    let series = Infinity;
    let length = 0;
    for (const [namespace, count] of [...scalers].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      const expected = expectedOf(namespace, count);
      const isFull = series + expected > aimedSeries || length + namespace.length + 1 > MAX_PATTERN_LENGTH;
      if (isFull) {
        fresh.push([]);
        series = 0;
        length = 0;
      }
      fresh.at(-1)?.push(namespace);
      series += expected;
      length += namespace.length + 1;
    }
    return fresh;
  };

  const areUsable = (scalers: Scalers): boolean =>
    sum(packs.map(({ length }) => length)) === scalers.size &&
    packs.every((namespaces) => {
      if (!namespaces.every((namespace) => scalers.has(namespace))) return false;
      const expected = sum(namespaces.map((each) => expectedOf(each, scalers.get(each) ?? 0)));
      return namespaces.length === 1 || expected <= KEPT_EXCESS * aimedSeries;
    });

  /**
   * Keeps the lists of the last round unless fewer queries suffice, because all labels in the answer to a changed query
   * must be parsed again.
   */
  const pack = (scalers: Scalers): readonly (readonly string[])[] => {
    const fresh = packAnew(scalers);
    if (fresh.length < packs.length || !areUsable(scalers)) packs = fresh;
    return packs;
  };

  const learn = (namespaces: readonly string[], answer: Answer): void => {
    if (answer.class === 'failed' && answer.reason === 'too_large' && namespaces.length > 1) {
      const expected = sum(namespaces.map((namespace) => seriesOf.get(namespace, now) ?? 0));
      if (expected > 0) aimedSeries = Math.max(LEAST_AIMED_SERIES, Math.min(aimedSeries, expected / 2));
      loweredRounds = 0;
    }
    if (answer.class !== 'value' && answer.class !== 'partial') return;
    const known = columnsOf(answer).layout.index.namespaces;
    for (const namespace of namespaces) seriesOf.set(namespace, known.get(namespace)?.count ?? 0, now);
  };

  const queryNamespaces = async (
    namespaces: readonly string[],
    { source, query }: Pick<Parameters<NamespaceQueries['sendForNamespaces']>[1], 'source' | 'query'>,
  ): Promise<TimedAnswer> => {
    const timed = await query(resourceQuery(source, resource, namespaces) ?? '');
    learn(namespaces, timed.answer);
    if (namespaces.length === 1 || !lacksNamespace(timed.answer)) return timed;
    const message = `the resource query of "${resource}" must keep the label "namespace"`;
    return { answer: { class: 'invalid', message }, seconds: null };
  };

  const beginRound = (source: SourceConfig): void => {
    mostSeries = AIMED_SHARE * answerLimits(source).series;
    aimedSeries = Math.min(aimedSeries, mostSeries);
    loweredRounds += 1;
    if (loweredRounds < LOWERED_ROUNDS || aimedSeries >= mostSeries) return;
    loweredRounds = 0;
    aimedSeries = Math.min(mostSeries, aimedSeries * 2);
  };

  return {
    sendForNamespaces: (scalers, { round, budget, source, query, now: begunAt }) => {
      now = begunAt;
      beginRound(source);
      return merged.sendLists(scalers, {
        round,
        budget,
        packKey: round,
        pack: (namespaces, isClean) => {
          const some =
            namespaces.length === scalers.size
              ? scalers
              : new Map(namespaces.map((each) => [each, scalers.get(each) ?? 0]));
          return isClean ? pack(some) : packAnew(some);
        },
        queryMembers: (namespaces) => queryNamespaces(namespaces, { source, query }),
      });
    },
  };
}

type Scalers = ReadonlyMap<string, number>;

/**
 * Returns whether a series has no label `namespace`. Without this label, pods with the same name in two namespaces
 * cannot be distinguished.
 */
function lacksNamespace(answer: Answer): boolean {
  if (answer.class !== 'value' && answer.class !== 'partial') return false;
  return columnsOf(answer).layout.index.namespaces.has(null);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
