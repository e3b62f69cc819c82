import { formatTime } from '../simulation/faults.js';
import { AGE_NAME, type ApiRecord, type QueryRecord } from '../simulation/log.js';
import { isInGroup } from '../simulation/api-wire.js';
import { TENANT, TENANT_DOCUMENTS } from '../simulation/tenant.js';
import type { History } from './history.js';
import { describeWrite, type Found, type Invariant } from './violation.js';

const SPAN_MS = 10_000;

const noFaultOfOurs: Invariant = {
  id: 'I15',
  text: 'no input causes a crash, an unhandled rejection or an internal error',
  check: (history) =>
    history.records.flatMap((record): readonly Found[] => {
      if (
        record.kind !== 'line' ||
        !/fault of promscaler|internal error|ended by an error|failed to record cycle/.test(record.text)
      )
        return [];
      return [{ atMs: record.atMs, message: record.text, process: record.process }];
    }),
};

/** Requests of a process for one namespace in any 10 s: twice those of a steady process, with room for the first lists of a new one. */
const API_BUDGETS = [
  { group: 'list', most: 30 },
  { group: 'watch', most: 24 },
  { group: 'scale', most: 48 },
  { group: 'events', most: 60 },
] as const;

/** For one metric before a scale-down, in two periods of less than 10 s, for its own pods and the whole selector. */
const AGE_QUERIES = 12;

function isAge({ query }: QueryRecord): boolean {
  return query === AGE_NAME;
}

const noHerd: Invariant = {
  id: 'I16',
  text: 'at most twice the steady rate of requests in any 10 s, to the API server and to each source',
  check: (history) =>
    [...history.byProcess].flatMap(([process, { requests, queries }]): readonly Found[] => {
      const found: Found[] = [];
      // The Lease causes one request every two seconds in any case: most requests of a day.
      const counted = requests.filter(({ resource }) => resource !== 'leases');
      // Objects are followed by namespace, so that a hostile one has separate requests.
      for (const isTenant of [false, true])
        for (const { group, most } of API_BUDGETS) {
          const times = counted
            .filter((record) => (record.namespace === TENANT) === isTenant && isInGroup(record, group))
            .map(({ sentMs }) => sentMs);
          const where = isTenant ? ' for the hostile namespace' : '';
          found.push(...crowds(times, most, `${process} sent ${group} requests${where}`));
        }
      for (const source of new Set(queries.map((query) => query.source))) {
        const own = queries.filter((query) => query.source === source);
        const [ages, values] = [own.filter(isAge), own.filter((query) => !isAge(query))];
        // The query for the targets of the past has another time in each round.
        const distinct = new Set(values.map(({ query }) => query.replaceAll(/[\d.]+/g, ''))).size;
        const metrics = history.targets
          .flatMap(({ plan }) => plan.metrics)
          .filter((one) => one.source === source);
        const timesOf = (some: typeof own): readonly number[] => some.map(({ sentMs }) => sentMs);
        // A query that two periods share may be sent by both. Each document of the hostile namespace gets its last answer at
        // another time, after which the age of the server is read once more.
        const most = 2 * (distinct + 1 + (hasTenant(history) ? TENANT_DOCUMENTS : 0));
        found.push(
          ...crowds(timesOf(values), most, `${process} asked ${source}`),
          ...crowds(timesOf(ages), AGE_QUERIES * metrics.length, `${process} asked ${source} for ages`),
        );
      }
      return found.map((one) => ({ ...one, process }));
    }),
};

function hasTenant({ faults }: History): boolean {
  return faults.some(({ what }) => what.mode === 'hostile-tenant');
}

function crowds(times: readonly number[], most: number, what: string): readonly Found[] {
  for (let index = most; index < times.length; index += 1) {
    const last = times[index] ?? 0;
    const first = times[index - most] ?? 0;
    if (last - first >= SPAN_MS) continue;
    const message = `${what} ${most + 1} times within ${((last - first) / 1000).toFixed(1)} s at ${formatTime(last)}`;
    return [{ atMs: last, message }];
  }
  return [];
}

/** Timers of a process at rest: one per loop and watch, and a few guards; 8 with an election. */
const MOST_TIMERS = 24;
/** Of pods, Deployments and HPAs. */
const MOST_CONNECTIONS = 3;

const bounded: Invariant = {
  id: 'I17',
  text: 'after every fault, the numbers of timers and connections return to normal',
  check: (history) =>
    history.records.flatMap((record): readonly Found[] => {
      if (record.kind !== 'vitals') return [];
      const isRestless = history.faults.some(
        ({ startMs, endMs }) => startMs < record.atMs && endMs + 300_000 > record.atMs,
      );
      const { timers, connections, process, atMs } = record;
      if (isRestless || (timers <= MOST_TIMERS && connections <= MOST_CONNECTIONS)) return [];
      return [{ atMs, message: `${process} has ${timers} timers and ${connections} watches`, process }];
    }),
};

const sameAgain: Invariant = {
  id: 'I21',
  text: 'deciding a recorded snapshot again returns the recorded decision',
  check: (history) =>
    history.records.flatMap((record): readonly Found[] =>
      record.kind === 'replay' && !record.isSame
        ? [{ atMs: record.atMs, message: `another decision for ${record.scaler}`, scaler: record.scaler }]
        : [],
    ),
};

const MOST_EVENTS = 26;

const reportedOnce: Invariant = {
  id: 'I25',
  text: 'each write that was answered has one decision record with a reason; Events stay within their budget',
  check: (history) => [...untold(history), ...tooManyEvents(history)],
};

function untold(history: History): readonly Found[] {
  return history.writes.flatMap((write): readonly Found[] => {
    const { answeredMs, status } = write.record;
    const life = history.processes.find(({ name }) => name === write.process);
    if (answeredMs === null || status !== 200 || answeredMs + 1000 > history.durationMs) return [];
    if (life?.endMs != null && life.endMs < answeredMs + 1000) return [];
    const records = history.byProcess.get(write.process)?.decisions.get(write.scaler) ?? [];
    const decisionRecords = records.filter(
      ({ atMs, from, outcome, reason }) =>
        atMs >= write.atMs &&
        atMs <= answeredMs + 1000 &&
        from === write.from &&
        ['patched', 'replaced'].includes(outcome) &&
        reason !== '',
    );
    if (decisionRecords.length === 1 || isStopped(history, write.atMs)) return [];
    const message = `${describeWrite(write)} has ${decisionRecords.length} decision records`;
    return [{ atMs: write.atMs, message, scaler: write.scaler, process: write.process }];
  });
}

/** A stopped process reports its actions when it continues. */
function isStopped(history: History, atMs: number): boolean {
  return history.faults.some(
    ({ kind, what, startMs, endMs }) =>
      kind === 'cluster' &&
      ['stopped', 'suspended', 'crash', 'gone', 'switched', 'restart'].includes(what.mode) &&
      startMs < atMs + 30_000 &&
      endMs > atMs - 30_000,
  );
}

function tooManyEvents(history: History): readonly Found[] {
  return [...history.byProcess].flatMap(([process, { requests }]) => {
    const byTarget = new Map<string, number[]>();
    for (const record of requests) {
      if (record.resource !== 'events') continue;
      const target = regardingOf(record);
      byTarget.set(target, [...(byTarget.get(target) ?? []), record.sentMs]);
    }
    return [...byTarget].flatMap(([target, times]): readonly Found[] => {
      const index = times.findIndex(
        (ms, at) => at >= MOST_EVENTS && ms - (times[at - MOST_EVENTS] ?? 0) < 300_000,
      );
      if (index === -1) return [];
      const message = `${process} sent more than ${MOST_EVENTS} Events on ${target} within 300 s`;
      return [{ atMs: times[index] ?? 0, message, process }];
    });
  });
}

function regardingOf({ body, name }: ApiRecord): string {
  const { regarding } = body as { regarding?: { name?: string } };
  return regarding?.name ?? (name ?? '').split('.')[0] ?? '';
}

const noTimeTravel: Invariant = {
  id: 'I27',
  text: 'the version of a watch never decreases or exceeds that of the server, and no list requests an old version',
  check: (history) =>
    [...history.byProcess].flatMap(([process, { requests }]): readonly Found[] => {
      const newest = new Map<string, number>();
      return requests.flatMap((record): readonly Found[] => {
        const { query, path, sentMs, method, name } = record;
        const version = query['resourceVersion'];
        const at = { atMs: sentMs, process };
        if (method !== 'GET' || name !== null || version === undefined) return [];
        if (query['watch'] !== '1' && query['resourceVersionMatch'] !== 'NotOlderThan')
          return [{ ...at, message: `${process} lists ${path} at version ${version}` }];
        const before = newest.get(path) ?? 0;
        newest.set(path, Math.max(before, Number(version)));
        if (Number(version) < before)
          return [{ ...at, message: `${process} asks ${path} from ${version}, after ${before}` }];
        if (Number(version) > MOST_VERSION)
          return [{ ...at, message: `${process} asks ${path} from ${version}, which never was` }];
        return [];
      });
    }),
};

/** No simulation reaches this version. */
const MOST_VERSION = 900_000_000;

export const SERVICE_INVARIANTS: readonly Invariant[] = [
  noFaultOfOurs,
  noHerd,
  bounded,
  sameAgain,
  reportedOnce,
  noTimeTravel,
];
