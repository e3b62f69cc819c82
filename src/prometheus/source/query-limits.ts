import type { Answer } from '../answers/answer.js';
import type { SourceConfig } from '../data-source/source-config.js';
import type { NamespaceAccount, NamespaceAccounts, QueryOwner } from './fair-slots.js';

/** Limits the own queries of each namespace in a round. */
export interface QueryLimits {
  /** Counts a query that is not sent for another one already. Returns the failure if it exceeds the number; null: it does not. */
  readonly count: (round: number, owners: readonly QueryOwner[]) => Answer | null;
  /** Returns the failure if the queries of the namespace have taken their time in this and earlier rounds. */
  readonly whyNoTime: (owners: readonly QueryOwner[]) => Answer | null;
}

/**
 * Creates the limits of a data source; null: there are none. A query that several namespaces need fails only if all of
 * them exceed a limit, and each pays its part of the time. What a namespace takes beyond its seconds is taken from those
 * of its next rounds.
 */
export function createQueryLimits(options: {
  readonly config: SourceConfig;
  readonly accounts: NamespaceAccounts;
  /** Called for each query that is not sent. */
  readonly onOverLimit: (namespace: string) => void;
}): QueryLimits | null {
  const { config, accounts, onOverLimit } = options;
  const { maxQueriesPerNamespace = Infinity, maxQuerySecondsPerNamespace = Infinity } = config;
  if (maxQueriesPerNamespace === Infinity && maxQuerySecondsPerNamespace === Infinity) return null;

  const accountOf = (round: number, { namespace }: QueryOwner): NamespaceAccount => {
    const account = accounts.of(namespace);
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
    return {
      class: 'failed',
      reason: 'over_limit',
      message: `not sent: the queries of namespace ${names} ${why}`,
    };
  };

  return {
    count: (round, owners) => {
      if (owners.length === 0) return null;
      let isWithin = false;
      for (const owner of owners) {
        const account = accountOf(round, owner);
        account.queries += 1;
        isWithin ||= account.queries <= maxQueriesPerNamespace;
      }
      const field = `prometheus.${config.name}.maxQueriesPerNamespace`;
      return isWithin
        ? null
        : refuse(owners, `are more than ${maxQueriesPerNamespace} in a round (${field})`);
    },
    whyNoTime: (owners) => {
      if (owners.length === 0 || owners.some(({ namespace }) => accounts.of(namespace).leftSeconds > 0))
        return null;
      const field = `prometheus.${config.name}.maxQuerySecondsPerNamespace`;
      return refuse(owners, `have taken more than ${maxQuerySecondsPerNamespace} s in a round (${field})`);
    },
  };
}
