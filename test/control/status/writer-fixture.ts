import { afterEach } from '@jest/globals';
import type { ObjectVerdict } from '../../../src/config/read-objects.js';
import { pollStatuses } from '../../../src/control/status/status-writer.js';
import { type ScalerObject, createScalerStore } from '../../../src/kubernetes/scaler-objects.js';
import type { KubernetesError } from '../../../src/kubernetes/api/types.js';
import type { LedgerEntry } from '../../../src/telemetry/ledger.js';
import { SILENT_LOG } from '../../../src/units/log.js';
import { ManualClock } from '../../support/manual-clock.js';
import { decision, metricResult } from '../../telemetry/record-builder.js';
import { cycle, object, verdict } from './status-builder.js';

const stop: AbortController[] = [];

afterEach(() => {
  for (const one of stop.splice(0)) one.abort();
});

/** A writer with a store whose server accepts everything unless a test changes that. */
export class WriterFixture {
  readonly clock = new ManualClock();
  readonly store = createScalerStore([]);
  readonly sent: { readonly object: ScalerObject; readonly status: Readonly<Record<string, unknown>> }[] = [];
  readonly warnings: Readonly<Record<string, unknown>>[] = [];
  readonly events: Readonly<Record<string, unknown>>[] = [];
  readonly faults: string[] = [];
  verdict: ObjectVerdict | null = verdict();
  hasFault = false;
  last: LedgerEntry | null = null;
  mayWrite = true;
  /** The error of the next requests; null: they succeed. */
  failure: KubernetesError | null = null;
  /** Returns the part of a status that the server keeps. */
  keep = (status: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => status;

  constructor(...objects: readonly ScalerObject[]) {
    this.store.scopes[0]?.store.replace(objects.length === 0 ? [object()] : objects);
    const controller = new AbortController();
    stop.push(controller);
    void pollStatuses(
      {
        store: this.store,
        verdictOf: () => {
          if (this.hasFault) throw new Error('a fault of our own');
          return this.verdict;
        },
        lastOf: () => this.last,
        rejectedSince: () => null,
        patch: (change) => this.#patch(change),
        recordEvent: ({ name, generation }, event) => this.events.push({ name, generation, ...event }),
        leadership: { mayWrite: () => this.mayWrite },
        clock: this.clock,
        log: {
          ...SILENT_LOG,
          warn: (message, facts) => this.warnings.push({ message, ...facts }),
          error: (message) => this.faults.push(message),
        },
      },
      controller.signal,
    );
  }

  #patch(change: { readonly object: ScalerObject; readonly status: object }): Promise<ScalerObject> {
    this.sent.push(change as (typeof this.sent)[number]);
    if (this.failure !== null) return Promise.reject(this.failure);
    const status = this.keep(JSON.parse(JSON.stringify(change.status)) as Record<string, unknown>);
    const resourceVersion = String(Number(change.object.resourceVersion) + 1);
    return Promise.resolve({ ...change.object, status, resourceVersion });
  }

  after(seconds: number): Promise<void> {
    return this.clock.advanceAndSettle(seconds * 1000);
  }

  /** Runs cycles 15 s apart. */
  async cycles(count: number, make: (index: number) => LedgerEntry): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      this.last = make(index);
      await this.after(15);
    }
  }
}

/** Builds a cycle with cpu at this percentage. */
export function cpuAt(percent: number): LedgerEntry {
  const result = metricResult({ current: { averageUtilization: percent } });
  return cycle({ decision: decision({ metrics: [result] }) });
}
