import { formatTime } from '../simulation/faults.js';
import type { ApiRecord } from '../simulation/log.js';
import { countUntil, type History } from './history.js';
import { describeWrite, type Found, type Invariant } from './violation.js';

/** Default of the service: a leader may write this long after the start of its last renewal. */
const RENEW_DEADLINE_MS = 10_000;
/** Tolerance for a write that was sent just before another process took over. */
const IN_FLIGHT_MS = 15_000;

export function leaseWrites(history: History): readonly ApiRecord[] {
  return history.records.filter(
    (record) => record.kind === 'api' && record.resource === 'leases' && record.written !== null,
  ) as readonly ApiRecord[];
}

export function holderOf({ body }: ApiRecord): string {
  return (body as { spec?: { holderIdentity?: string } }).spec?.holderIdentity ?? '';
}

const oneWriter: Invariant = {
  id: 'I10',
  text: 'no process writes replicas while another process holds the Lease on the server, except writes in flight',
  check: (history) => {
    if (!history.isElected || history.isSharded) return [];
    const terms = leaseWrites(history)
      .map((record) => ({ atMs: record.written?.atMs ?? 0, holder: holderOf(record) }))
      .sort((a, b) => a.atMs - b.atMs);
    return history.writes.flatMap((write): readonly Found[] => {
      // The term that the span begins in, and those that begin within it.
      const first = Math.max(0, countUntil(terms, write.record.sentMs - IN_FLIGHT_MS) - 1);
      const holders = terms.slice(first, countUntil(terms, write.atMs)).map(({ holder }) => holder);
      if (holders.some((holder) => holder.startsWith(`${write.process}_`))) return [];
      const message = `${describeWrite(write)}, the Lease was held by ${holders.join(', ') || 'no process'}`;
      return [{ atMs: write.atMs, message, scaler: write.scaler, process: write.process }];
    });
  },
};

const withinTerm: Invariant = {
  id: 'I11',
  text: "no write is sent later than the renew deadline after the start of the sender's last successful renewal",
  check: (history) => {
    if (!history.isElected) return [];
    return [...history.byProcess].flatMap(([process, { requests }]): readonly Found[] => {
      const found: Found[] = [];
      const renewals = renewalsOf(requests, process);
      for (const record of requests) {
        if (record.subresource !== 'scale' || record.method !== 'PATCH') continue;
        const before = renewals.slice(0, countUntil(renewals, record.sentMs));
        const last = before.findLast(({ answeredMs }) => answeredMs <= record.sentMs);
        const ageMs = last === undefined ? Number.POSITIVE_INFINITY : record.sentMs - last.atMs;
        if (ageMs <= RENEW_DEADLINE_MS) continue;
        const message = `${process} sent a PATCH at ${formatTime(record.sentMs)}, ${Math.round(ageMs / 1000)} s after its last renewal`;
        found.push({ atMs: record.sentMs, message, process });
      }
      return found;
    });
  },
};

/** Returns when its successful renewals were sent and answered, in order. */
function renewalsOf(requests: readonly ApiRecord[], process: string) {
  const renewals: { readonly atMs: number; readonly answeredMs: number }[] = [];
  for (const one of requests) {
    const { resource, method, status, answeredMs, sentMs } = one;
    if (resource !== 'leases' || method === 'GET' || (status !== 200 && status !== 201)) continue;
    if (answeredMs !== null && holderOf(one).startsWith(`${process}_`))
      renewals.push({ atMs: sentMs, answeredMs });
  }
  return renewals;
}

export const LEADERSHIP_INVARIANTS: readonly Invariant[] = [oneWriter, withinTerm];
