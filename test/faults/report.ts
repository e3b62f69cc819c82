import type { Violation } from './checker/violation.js';
import { formatTime, nameFault } from './simulation/faults.js';
import type { LogRecord } from './simulation/log.js';
import type { Feature } from './simulation/scenario.js';
import { timeOf } from './simulation/log.js';
import type { SeedResult } from './run-seed.js';

const LINES = 20;

/** Describes a violation for a person: its place, its history, and how to reproduce it. */
export function describeViolation(
  violation: Violation,
  result: SeedResult,
  {
    hours,
    shards,
    features,
  }: {
    readonly hours: number;
    readonly shards: number | null;
    readonly features: readonly Feature[];
  },
): string {
  const { invariant, atMs, message } = violation;
  const relevant = result.records.filter((record) => isRelevant(record, violation)).slice(-LINES);
  const faults = result.faults.filter(({ startMs, endMs }) => startMs < atMs && endMs > atMs - 3_600_000);
  const flags = [
    hours === 24 ? '' : ` --hours ${hours}`,
    shards === null ? '' : ` --replicas ${shards}`,
    ...features.map((feature) => ` --${feature}`),
  ].join('');
  return [
    `${invariant} seed ${result.seed} at ${formatTime(atMs)}: ${message}`,
    ...faults.map((fault) => `    fault: ${nameFault(fault)}`),
    ...relevant.map((record) => `    ${describeRecord(record)}`),
    `    again: npm run faults -- --seeds 1 --first-seed ${result.seed}${flags}`,
  ].join('\n');
}

function isRelevant(record: LogRecord, { atMs, scaler, process }: Violation): boolean {
  if (timeOf(record) > atMs + 1000 || timeOf(record) < atMs - 1_800_000) return false;
  if (process !== null && record.process !== process && record.kind !== 'api') return false;
  const name = scaler?.split('/')[1] ?? null;
  switch (record.kind) {
    case 'api':
      return record.subresource === 'scale' ? name === null || record.name === name : name === null;
    case 'decision':
      return scaler !== null && record.scaler === scaler;
    case 'line':
      return scaler === null || record.text.includes(scaler);
    case 'query':
      return name !== null && record.answer !== 'value';
    case 'vitals':
    case 'heard':
    case 'replay':
      return false;
    case 'back-test':
      return scaler === null || record.scaler === scaler;
    default:
      return record satisfies never;
  }
}

/** Describes one record in one line. */
function describeRecord(record: LogRecord): string {
  const start = `${formatTime(timeOf(record))} ${record.process}`;
  switch (record.kind) {
    case 'api': {
      const { method, path, status, written, arrivedMs } = record;
      const done =
        written?.to == null
          ? ''
          : `, done at ${formatTime(written.atMs)}: ${written.from ?? '?'} -> ${written.to}`;
      const arrived = arrivedMs === null ? ', never arrived' : '';
      const body = method === 'GET' ? '' : ` ${JSON.stringify(record.body)}`;
      return `${start} ${method} ${path}${body}: ${status ?? 'no answer'}${arrived}${done}`;
    }
    case 'query':
      return `${start} query ${record.query.slice(0, 60)}: ${record.answer}`;
    case 'decision': {
      const { scaler, specReplicas, desired, outcome, reason } = record;
      return `${start} decided ${scaler} ${specReplicas ?? '?'} -> ${desired ?? '?'} (${outcome}): ${reason}`;
    }
    case 'line':
      return `${start} says ${record.text}`;
    case 'heard':
      return `${start} heard of ${record.resource}`;
    case 'vitals':
      return `${start} has ${record.timers} timers, ${record.connections} watches`;
    case 'replay':
      return `${start} replays ${record.scaler}`;
    case 'back-test':
      return `${start} back-tests ${record.scaler} until ${record.endedMs === null ? '?' : formatTime(record.endedMs)}`;
    default:
      return record satisfies never;
  }
}
