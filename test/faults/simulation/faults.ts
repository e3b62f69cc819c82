import type { TenantWay } from './tenant.js';

/** Which requests to the API server a fault is for. */
export type RequestGroup =
  'all' | 'patch' | 'scale' | 'list' | 'watch' | 'lease' | 'members' | 'state' | 'events' | 'hpa';

export type ApiMode =
  | { readonly mode: 'refused' }
  /** Accepted, never answered, not applied. */
  | { readonly mode: 'hang' }
  | { readonly mode: 'slow'; readonly delayMs: number }
  | { readonly mode: 'status'; readonly status: number; readonly retryAfter: string | null }
  /** 429 with a `Retry-After` of 1 s, as from API priority and fairness. */
  | { readonly mode: 'rate-limited' }
  /** Applied, but the answer is lost with the connection. */
  | { readonly mode: 'applied-lost' }
  | { readonly mode: 'unapplied-lost' }
  | { readonly mode: 'applied-504' }
  | { readonly mode: 'unapplied-504' }
  /** 504 at once, and applied this much later, if its preconditions still hold. */
  | { readonly mode: 'late-504'; readonly delayMs: number }
  /** An admission webhook sets another count. */
  | { readonly mode: 'override'; readonly replicas: number };

export type WatchMode =
  | { readonly mode: 'end-at-once' }
  | { readonly mode: 'http-410' }
  | { readonly mode: 'error'; readonly code: number; readonly reason: string }
  | { readonly mode: 'garbage' }
  /** Connected, without any further data. */
  | { readonly mode: 'silent' }
  | { readonly mode: 'no-bookmarks' }
  /** Old events are sent again, after the new ones. */
  | { readonly mode: 'replay' };

export type SourceMode =
  /** Disconnected: it neither answers nor scrapes, and continues afterwards. */
  | { readonly mode: 'down' }
  /** The same, and restarts with its history. */
  | { readonly mode: 'restarted' }
  /** Down, then up again without history. */
  | { readonly mode: 'wiped' }
  | { readonly mode: 'hang' }
  | { readonly mode: 'slow'; readonly delayMs: number }
  | { readonly mode: 'failed'; readonly reason: 'server_error' | 'rate_limited' | 'bad_answer' | 'execution' }
  | { readonly mode: 'missing' }
  /** Only queries with this text find no series. */
  | { readonly mode: 'query-missing'; readonly text: string }
  | { readonly mode: 'nan' }
  | { readonly mode: 'infinite' }
  | { readonly mode: 'negative' }
  | { readonly mode: 'partial' }
  /** Killed, emptied and restarted at once, with only the unsent samples of its scraper. */
  | { readonly mode: 'emptied' }
  /**
   * A store that has this percentage of the targets and series is not queried, without a sign of it in the answers. No
   * effect on servers that report since when they store data.
   */
  | { readonly mode: 'store-lost'; readonly percent: number }
  /** A second server behind the same address, without history. */
  | { readonly mode: 'second-replica' }
  /** The scrapes of this percentage of the targets fail. */
  | { readonly mode: 'unscraped'; readonly percent: number }
  /** The samples of this percentage of the targets are received this much later. */
  | { readonly mode: 'lagging'; readonly percent: number; readonly seconds: number }
  | { readonly mode: 'skewed'; readonly seconds: number };

export type ClusterMode =
  /** Killed at once, or at that step of the next request of that group. */
  | {
      readonly mode: 'crash';
      readonly point: { readonly step: 'sending' | 'sent' | 'answered'; readonly group: RequestGroup } | null;
    }
  /** Killed, and replaced only at the end of the fault. */
  | { readonly mode: 'gone' }
  /** Replaced as by a rolling update, by a process with or without sharding. */
  | { readonly mode: 'switched'; readonly isSharded: boolean }
  | { readonly mode: 'stopped' }
  /** Stopped with its machine: its monotonic clock and its timers do not advance, its wall clock is right afterwards. */
  | { readonly mode: 'suspended' }
  | { readonly mode: 'restart' }
  | { readonly mode: 'clock-jump'; readonly seconds: number }
  | { readonly mode: 'pods-crash'; readonly percent: number }
  | { readonly mode: 'node-lost'; readonly percent: number }
  | { readonly mode: 'slow-start'; readonly seconds: number }
  /** Pods that start do not become ready before the end of the fault. */
  | { readonly mode: 'never-ready' }
  | { readonly mode: 'recreate' }
  | { readonly mode: 'foreign-write'; readonly factor: number }
  | { readonly mode: 'foreign-storm'; readonly periodMs: number; readonly factor: number }
  | { readonly mode: 'status-churn'; readonly periodMs: number }
  | { readonly mode: 'hpa-appears' }
  | { readonly mode: 'document-changed'; readonly maxReplicas: number }
  | { readonly mode: 'document-removed' }
  /** The directory of the documents is readable and empty. */
  | { readonly mode: 'documents-emptied' }
  /** The API server stops, and answers 403 to everything for this time after it returns. */
  | { readonly mode: 'api-restart'; readonly forbiddenMs: number }
  | { readonly mode: 'compaction' }
  /** Another namespace has documents that burden the data source. */
  | { readonly mode: 'hostile-tenant'; readonly way: TenantWay }
  /** A stranger creates Leases of members that do not exist, and renews them every 2 s if `isRenewed`. */
  | {
      readonly mode: 'forged-leases';
      readonly count: number;
      readonly claims: string;
      readonly isRenewed: boolean;
    };

/** A fault, and its start and end. `target` is a workload, `replica` the number of a promscaler process. */
export type Fault = {
  readonly startMs: number;
  readonly endMs: number;
} & (
  | {
      readonly kind: 'api';
      readonly group: RequestGroup;
      readonly replica: number | null;
      readonly what: ApiMode;
      readonly probability: number;
    }
  | { readonly kind: 'watch'; readonly resource: string | null; readonly what: WatchMode }
  | { readonly kind: 'source'; readonly source: string; readonly what: SourceMode }
  | {
      readonly kind: 'cluster';
      readonly replica: number;
      readonly target: string;
      readonly what: ClusterMode;
    }
);

/** Returns one line for a report: `watch error 500 from 3:20:11 for 61 s`. */
export function nameFault(fault: Fault): string {
  const { startMs, endMs, kind, what } = fault;
  const { mode, ...details } = what;
  const place =
    fault.kind === 'api'
      ? ` ${fault.group}`
      : fault.kind === 'source'
        ? ` ${fault.source}`
        : fault.kind === 'cluster'
          ? ` ${fault.target}`
          : ` ${fault.resource ?? 'all'}`;
  const seconds = ((endMs - startMs) / 1000).toFixed(0);
  const facts = Object.keys(details).length === 0 ? '' : ` ${JSON.stringify(details)}`;
  return `${kind}${place} ${mode}${facts} from ${formatTime(startMs)} for ${seconds} s`;
}

/** Returns simulated time as `H:MM:SS.mmm`. */
export function formatTime(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const two = (value: number): string => String(value).padStart(2, '0');
  const rest = String(Math.floor(ms % 1000)).padStart(3, '0');
  return `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}.${rest}`;
}
