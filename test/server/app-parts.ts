import { decisionToJson, snapshotToJson } from '../../src/decision/result/write-json.js';
import type { AppParts } from '../../src/server/app.js';
import { createEventStreams } from '../../src/server/event-streams.js';
import { createServiceHealth } from '../../src/telemetry/service-health.js';
import { createRecords } from '../../src/telemetry/records.js';
import type { Records } from '../../src/telemetry/records.js';
import type { Clock } from '../../src/units/clock.js';
import { ManualClock } from '../support/manual-clock.js';

/** Returns the parts of an app that serves these records, by default those of a healthy leader. */
export function partsOf(
  records: Partial<Records> = {},
  { api, ...overrides }: Partial<Omit<AppParts, 'api'>> & { readonly api?: Partial<AppParts['api']> } = {},
): AppParts {
  const clock = new ManualClock();
  const { ledger, archive, chartPoints, feed, sentEvents } = { ...createRecords(clock), ...records };
  return {
    healthProblems: () => [],
    waitingFor: () => [],
    metrics: { contentType: 'text/plain', render: () => Promise.resolve([]) },
    clock: promptly(clock),
    longHistory: {
      find: (key) => ledger.get(key)?.scaler ?? null,
      read: () => Promise.resolve({ why: 'Prometheus is not asked in this test' }),
    },
    service: {
      health: createServiceHealth(clock, ['default']),
      identity: 'promscaler-0',
      leader: () => 'promscaler-0',
      urlsOf: (source) => [`http://${source}:9090`],
      periodSeconds: () => 15,
      excerptOf: ({ sourceLine }) => sourceLine,
    },
    onError: (error) => {
      throw error;
    },
    ...overrides,
    api: {
      ledger,
      archive,
      chartPoints,
      sentEvents,
      streams: createEventStreams({ feed, clock }),
      writeSnapshot: snapshotToJson,
      writeDecision: decisionToJson,
      version: '0.1.0',
      isLeading: () => true,
      problems: () => [],
      invalid: () => [],
      generationsOf: () => ({ generation: null, newestGeneration: null }),
      ...api,
    },
  };
}

/** The same clock, but waits for the next turn of the event loop end without advancing it. */
export function promptly({ now, monotonicMs, random, after }: Clock): Clock {
  const next = (callback: () => void): (() => void) => {
    const timer = setImmediate(callback);
    return () => clearImmediate(timer);
  };
  return {
    now,
    monotonicMs,
    random,
    after: (ms, callback) => (ms === 0 ? next(callback) : after(ms, callback)),
  };
}
