import { failed } from '../../units/failure.js';
import type { Answer } from '../answers/answer.js';
import type { SourceConfig } from '../data-source/source-config.js';
import type { FairSlots, NamespaceAccount, QueryOwner } from './fair-slots.js';

/** Limits how many queries each namespace sends in a round, and how many seconds they take. */
export interface QueryLimits {
  /** Counts a query for its namespaces. Returns a failure if all of them have sent too many queries, otherwise null. */
  readonly count: (round: number, owners: readonly QueryOwner[]) => Answer | null;
  /** Returns a failure if the namespaces have used up their query time in this and earlier rounds, or null. */
  readonly whyNoTime: (owners: readonly QueryOwner[]) => Answer | null;
}

/**
 * Creates the limits of a data source; null: there are none. A query that several namespaces need fails only if all of
 * them exceed a limit. Each namespace is charged a share of the time of the query. If a namespace exceeds its query
 * time, it has less time in the next rounds.
 */
export function createQueryLimits(options: {
  readonly config: SourceConfig;
  readonly accountOf: FairSlots<unknown>['accountOf'];
  /** Called for each query that is not sent, once for each of its namespaces. */
  readonly onOverLimit: (namespace: string) => void;
}): QueryLimits | null {
  const { config, accountOf, onOverLimit } = options;
  const { maxQueriesPerNamespace = Infinity, maxQuerySecondsPerNamespace = Infinity } = config;
  if (maxQueriesPerNamespace === Infinity && maxQuerySecondsPerNamespace === Infinity) return null;

  const accountIn = (round: number, { namespace }: QueryOwner): NamespaceAccount => {
    const account = accountOf(namespace);
    if (round > account.round) {
      account.round = round;
      account.queries = 0;
      account.leftSeconds = Math.min(0, account.leftSeconds) + maxQuerySecondsPerNamespace;
    }
    return account;
  };
  const refuse = (owners: readonly QueryOwner[], why: string): Answer => {
    for (const { namespace } of owners) onOverLimit(namespace);
    const names = owners.map(({ namespace }) => namespace).join(', ');
    return failed('over_limit', `the query was not sent, because the queries of namespace ${names} ${why}`);
  };

  return {
    count: (round, owners) => {
      if (owners.length === 0) return null;
      let isWithin = false;
      for (const owner of owners) {
        const account = accountIn(round, owner);
        account.queries += 1;
        isWithin ||= account.queries <= maxQueriesPerNamespace;
      }
      const field = `prometheus.${config.name}.maxQueriesPerNamespace`;
      return isWithin ? null : refuse(owners, `exceed ${maxQueriesPerNamespace} in a round (${field})`);
    },
    whyNoTime: (owners) => {
      if (owners.length === 0 || owners.some(({ namespace }) => accountOf(namespace).leftSeconds > 0))
        return null;
      const field = `prometheus.${config.name}.maxQuerySecondsPerNamespace`;
      return refuse(owners, `have taken more than ${maxQuerySecondsPerNamespace} s in a round (${field})`);
    },
  };
}
