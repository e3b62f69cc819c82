import { formatTime, type Fault } from '../simulation/faults.js';
import type { ApiRecord } from '../simulation/log.js';
import { TENANT } from '../simulation/tenant.js';
import { isRefusal } from './disturbances.js';
import type { History } from './history.js';
import type { Found, Invariant } from './violation.js';

type ClusterFault = Extract<Fault, { readonly kind: 'cluster' }>;

interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Longer than the longest pause of a list or watch after an outage, and than a new server denies requests. */
const BACK_MS = 10_500;
const RETRY_AFTER_MS = 1000;
/** Two ways over the network, and the read before the PATCH. */
const SLACK_MS = 600;

const backSoon: Invariant = {
  id: 'I18',
  text: 'within 10 s after the API server is available and allows it, everything is listed or watched again',
  check: (history) =>
    history.faults.flatMap((fault): readonly Found[] => {
      if (fault.kind !== 'cluster' || fault.what.mode !== 'api-restart') return [];
      const backMs = fault.endMs + fault.what.forbiddenMs;
      const span = { fromMs: fault.startMs - 60_000, toMs: backMs + BACK_MS };
      if (isDisturbed(history, span, fault)) return [];
      return livingIn(history, span).flatMap((process) => {
        const requests = history.byProcess.get(process)?.requests ?? [];
        return pathsWatched(requests, fault)
          .filter(
            (path) => !requests.some((one) => isSuccess(one, path, { fromMs: fault.endMs, toMs: span.toMs })),
          )
          .map((path) => ({
            atMs: span.toMs,
            message: `${process} has not read ${path} again since the API server was back at ${formatTime(backMs)}`,
            process,
          }));
      });
    }),
};

/**
 * Returns the paths of lists and watches that a process had open when the server stopped. Those of the hostile namespace
 * end with its documents.
 */
function pathsWatched(requests: readonly ApiRecord[], { startMs }: ClusterFault): readonly string[] {
  const watches = requests.filter(
    ({ query, sentMs, status, namespace }) =>
      query['watch'] === '1' &&
      sentMs < startMs &&
      sentMs > startMs - 500_000 &&
      status === 200 &&
      namespace !== TENANT,
  );
  return [...new Set(watches.map(({ path }) => path))];
}

function isSuccess(record: ApiRecord, path: string, { fromMs, toMs }: Span): boolean {
  return record.path === path && record.status === 200 && record.sentMs >= fromMs && record.sentMs <= toMs;
}

const heedsRetryAfter: Invariant = {
  id: 'I16',
  text: 'a PATCH that was answered with 429 is retried soon after its Retry-After, not before',
  check: (history) =>
    history.faults.flatMap((fault): readonly Found[] => {
      if (fault.kind !== 'api' || fault.what.mode !== 'rate-limited') return [];
      return [...history.byProcess].flatMap(([process, { scale }]) =>
        [...scale.values()].flatMap((requests) =>
          requests.flatMap((record, index): readonly Found[] => {
            const atMs = record.answeredMs;
            if (atMs === null || atMs < fault.startMs || atMs > fault.endMs || !isFirstOfRow(requests, index))
              return [];
            const span = { fromMs: atMs - 20_000, toMs: atMs + 20_000 };
            if (isDisturbed(history, span, fault) || !livingIn(history, span).includes(process)) return [];
            const waitedMs = (requests[index + 1]?.sentMs ?? Number.POSITIVE_INFINITY) - atMs;
            if (waitedMs >= RETRY_AFTER_MS - 1 && waitedMs <= RETRY_AFTER_MS + SLACK_MS) return [];
            const message = `${process} went on ${(waitedMs / 1000).toFixed(3)} s after a 429 with a Retry-After of 1 s at ${formatTime(atMs)}`;
            return [{ atMs, message, process }];
          }),
        ),
      );
    }),
};

/** Later ones in a row may be abandoned: a change is tried for 5 s. */
function isFirstOfRow(requests: readonly ApiRecord[], index: number): boolean {
  const isLimited = (record: ApiRecord | undefined): boolean =>
    record?.method === 'PATCH' && record.status === 429;
  const record = requests[index];
  if (record === undefined || !isLimited(record)) return false;
  return !requests
    .slice(Math.max(0, index - 12), index)
    .some((one) => isLimited(one) && record.sentMs - one.sentMs < 10_000);
}

/** Returns whether another fault could explain the requests in a span. */
function isDisturbed({ faults, documents }: History, { fromMs, toMs }: Span, itself: Fault): boolean {
  const isOther = faults.some(
    (fault) => fault !== itself && fault.kind !== 'source' && fault.startMs < toMs && lastMs(fault) > fromMs,
  );
  return isOther || documents.some(({ atMs }) => atMs > fromMs && atMs < toMs);
}

function lastMs(fault: Fault): number {
  // After a lasting 403 the next try is up to ten minutes later.
  return fault.endMs + (fault.kind === 'api' && isRefusal(fault) ? 600_000 : 60_000);
}

function livingIn({ processes }: History, { fromMs, toMs }: Span): readonly string[] {
  return processes
    .filter(({ startMs, endMs }) => startMs < fromMs && (endMs === null || endMs > toMs))
    .map(({ name }) => name);
}

export const API_RETURN_INVARIANTS: readonly Invariant[] = [backSoon, heedsRetryAfter];
