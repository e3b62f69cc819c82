import { afterEach, describe, expect, it } from '@jest/globals';
import { buildObjectStatus } from '../../../src/control/status/object-status.js';
import { pollStatuses } from '../../../src/control/status/status-writer.js';
import type { JsonObject } from '../../../src/kubernetes/api/json.js';
import { KubernetesError } from '../../../src/kubernetes/api/types.js';
import { createLaneBudgets } from '../../../src/kubernetes/requests/lanes.js';
import { type ScalerObject, createScalerStore } from '../../../src/kubernetes/scaler-objects.js';
import type { LedgerEntry } from '../../../src/telemetry/ledger.js';
import { sleep } from '../../../src/units/clock.js';
import { SILENT_LOG } from '../../../src/units/log.js';
import { ManualClock } from '../../support/manual-clock.js';
import { condition, decision, metricResult } from '../../telemetry/record-builder.js';
import { ACTIVE, cycle, object, showing, verdict } from './status-builder.js';

const stop: AbortController[] = [];

afterEach(() => {
  for (const one of stop.splice(0)) one.abort();
});

interface Answered {
  readonly atMs: number;
  readonly name: string;
  readonly active: string;
}

/** An API server that takes time for each PATCH, and may reject or delay them by how many are under way. */
class BusyServer {
  readonly clock = new ManualClock();
  readonly store = createScalerStore([]);
  readonly answered: Answered[] = [];
  /** The times of requests that were answered with 429. */
  readonly rejectedAtMs: number[] = [];
  readonly startedAtMs: number[] = [];
  inFlight = 0;
  mostInFlight = 0;
  last: LedgerEntry = healthy();
  latencyMs = (): number => 20;
  capacity = Number.POSITIVE_INFINITY;
  /** The objects whose writes are answered with 409. */
  conflicts: (name: string) => boolean = () => false;
  readonly #lane = createLaneBudgets(this.clock).status;

  /** `status`: as stored for each object. */
  constructor(count: number, status: JsonObject | null = null) {
    this.store.scopes[0]?.store.replace(
      Array.from({ length: count }, (_, index) =>
        object({ name: `web-${index}`, uid: `u-${index}`, status }),
      ),
    );
    const controller = new AbortController();
    stop.push(controller);
    const one = verdict();
    void pollStatuses(
      {
        store: this.store,
        verdictOf: () => one,
        lastOf: () => this.last,
        rejectedSince: () => null,
        patch: (change, signal) => this.#patch(change, signal),
        recordEvent: () => undefined,
        leadership: { mayWrite: () => true },
        clock: this.clock,
        log: SILENT_LOG,
      },
      controller.signal,
    );
  }

  async #patch(
    change: { readonly object: ScalerObject; readonly status: object },
    signal: AbortSignal,
  ): Promise<ScalerObject> {
    await this.#lane.take(signal);
    this.startedAtMs.push(this.clock.monotonicMs());
    if (this.inFlight >= this.capacity) {
      this.rejectedAtMs.push(this.clock.monotonicMs());
      throw new KubernetesError('rate_limited', 'busy', { retryAfterSeconds: 1 });
    }
    this.inFlight += 1;
    this.mostInFlight = Math.max(this.mostInFlight, this.inFlight);
    await sleep(this.clock, this.latencyMs(), signal);
    this.inFlight -= 1;
    if (this.conflicts(change.object.name)) throw new KubernetesError('conflict', 'changed');
    const status = JSON.parse(JSON.stringify(change.status)) as Record<string, unknown>;
    const conditions = status['conditions'] as { readonly type: string; readonly status: string }[];
    const active = conditions.find(({ type }) => type === 'ScalingActive')?.status ?? '';
    this.answered.push({ atMs: this.clock.monotonicMs(), name: change.object.name, active });
    return { ...change.object, status, resourceVersion: String(Number(change.object.resourceVersion) + 1) };
  }

  /** Runs `seconds` in steps of a decision every 15 s, each with a new record. */
  async run(seconds: number, make: () => LedgerEntry): Promise<void> {
    for (let passed = 0; passed < seconds; passed += 15) {
      this.last = make();
      await this.clock.advanceAndSettle(Math.min(15, seconds - passed) * 1000);
    }
  }

  /** Writes the status of a healthy service, and forgets the requests for it. */
  async settled(seconds = 90): Promise<void> {
    await this.clock.advanceAndSettle(seconds * 1000);
    this.answered.length = 0;
    this.startedAtMs.length = 0;
    this.mostInFlight = 0;
  }
}

function healthy(percent = 55): LedgerEntry {
  const result = metricResult({ current: { averageUtilization: percent } });
  return cycle({ decision: decision({ metrics: [result] }) });
}

function healthyStatus(): JsonObject {
  const now = new ManualClock().now();
  const wanted = buildObjectStatus({ object: object(), verdict: verdict(), last: healthy(), now });
  return showing(object(), wanted).status ?? {};
}

function failing(): LedgerEntry {
  const inactive = { ...ACTIVE, status: 'False', reason: 'FailedGetResourceMetric' } as const;
  return cycle({ conditions: [condition(), inactive], decision: null });
}

/** Returns the largest number of times within any second. */
function mostPerSecond(times: readonly number[]): number {
  let first = 0;
  return times.reduce((most, atMs, index) => {
    while (atMs - (times[first] ?? 0) >= 1000) first += 1;
    return Math.max(most, index - first + 1);
  }, 0);
}

describe('pollStatuses of 10,000 objects whose Prometheus is away', () => {
  it('writes ScalingActive False to all of them within 60 s, each once, with at most 20 requests at once and 400 in the first second', async () => {
    const server = new BusyServer(10_000, healthyStatus());
    const startMs = server.clock.monotonicMs();

    await server.run(60, failing);

    expect(server.answered.filter(({ active }) => active === 'False')).toHaveLength(10_000);
    expect(new Set(server.answered.map(({ name }) => name)).size).toBe(10_000);
    expect((server.answered.at(-1)?.atMs ?? Number.NaN) - startMs).toBeLessThan(60_000);
    expect(server.mostInFlight).toBeLessThanOrEqual(20);
    expect(mostPerSecond(server.startedAtMs)).toBeLessThanOrEqual(400);
  });
});

describe('pollStatuses of many objects', () => {
  it('sends at most 10 refreshes of metric values per 2 s, however many are due', async () => {
    const server = new BusyServer(400);
    await server.settled();
    let percent = 55;

    await server.run(60, () => healthy((percent += 1)));

    expect(server.answered.length).toBeGreaterThan(250);
    expect(server.answered.length).toBeLessThanOrEqual(310);
    expect(server.mostInFlight).toBeLessThanOrEqual(10);
  });

  it('sends fewer requests at once to a server that answers 429 to more than 4, and waits for its Retry-After', async () => {
    const server = new BusyServer(2000);
    server.latencyMs = () => 100;
    server.capacity = 4;

    await server.clock.advanceAndSettle(120_000);

    expect(server.answered).toHaveLength(2000);
    // Each 429 stops all requests for its second.
    const afterwards = server.startedAtMs.filter((atMs) =>
      server.rejectedAtMs.some((rejectedMs) => atMs > rejectedMs && atMs < rejectedMs + 1000),
    );
    expect(afterwards).toEqual([]);
    expect(server.rejectedAtMs.length).toBeLessThan(60);
  });

  it('is not slowed down by objects that change meanwhile: a tenth of the writes are conflicts', async () => {
    const server = new BusyServer(1000);
    server.conflicts = (name) => name.endsWith('7');

    await server.clock.advanceAndSettle(8000);

    expect(server.answered).toHaveLength(900);
  });

  it('sends one request at a time to a server whose answers take 0.5 s for each request that is under way', async () => {
    const server = new BusyServer(500);
    server.latencyMs = () => 500 * server.inFlight;

    await server.clock.advanceAndSettle(30_000);
    server.mostInFlight = 0;
    await server.clock.advanceAndSettle(60_000);

    expect(server.mostInFlight).toBeLessThanOrEqual(3);
    expect(server.answered.length).toBeGreaterThan(100);
  });
});
