import type { Cluster, WireAnswer } from './cluster.js';
import type { Fault, RequestGroup } from './faults.js';
import type { ApiRecord } from './log.js';
import type { Random } from './random.js';
import type { Timeline } from './timeline.js';

type ApiFault = Extract<Fault, { readonly kind: 'api' }>;

/** The end of a request, for its sender. */
export type WireEnd = { readonly kind: 'answer'; readonly answer: WireAnswer } | { readonly kind: 'lost' };

/** Transports requests to the API server and back, with latency and the current faults. */
export class ApiWire {
  readonly faults = new Set<ApiFault>();
  readonly #timeline: Timeline;
  readonly #cluster: Cluster;
  readonly #random: Random;

  constructor(parts: { readonly timeline: Timeline; readonly cluster: Cluster; readonly random: Random }) {
    this.#timeline = parts.timeline;
    this.#cluster = parts.cluster;
    this.#random = parts.random;
  }

  /** Calls `end` when the answer has arrived, or the connection is lost; never if the request hangs. */
  take(record: ApiRecord, replica: number, end: (end: WireEnd) => void): void {
    const fault = this.faultFor(record, replica);
    const reply = (answer: WireAnswer, ms = this.latencyMs()): void => {
      this.#timeline.after(ms, () => {
        record.answeredMs = this.#timeline.nowMs;
        record.status = answer.status;
        end({ kind: 'answer', answer });
      });
    };
    const lose = (): void => void this.#timeline.after(this.latencyMs(), () => end({ kind: 'lost' }));
    if (fault?.what.mode === 'refused') {
      lose();
      return;
    }
    const delayMs = fault?.what.mode === 'slow' ? fault.what.delayMs : 0;
    this.#timeline.after(this.latencyMs() + delayMs, () => {
      record.arrivedMs = this.#timeline.nowMs;
      this.#work(record, fault, { reply, lose });
    });
  }

  /** Returns the fault that currently affects a request, or null. */
  faultFor(record: ApiRecord, replica: number): ApiFault | null {
    for (const fault of this.faults) {
      if (fault.replica !== null && fault.replica !== replica) continue;
      if (isInGroup(record, fault.group) && this.#random.chance(fault.probability)) return fault;
    }
    return null;
  }

  /** Latency of one way over the network. */
  latencyMs(): number {
    return this.#random.between(1, 12);
  }

  #work(
    record: ApiRecord,
    fault: ApiFault | null,
    { reply, lose }: { readonly reply: (answer: WireAnswer, ms?: number) => void; readonly lose: () => void },
  ): void {
    const what = fault?.what ?? null;
    switch (what?.mode) {
      case undefined:
      case 'slow':
      case 'refused':
        reply(this.#cluster.answer(record));
        return;
      case 'hang':
        return;
      case 'status':
        reply(refusal(what.status, what.retryAfter));
        return;
      case 'rate-limited':
        reply(refusal(429, '1'));
        return;
      case 'applied-lost':
        this.#cluster.answer(record);
        lose();
        return;
      case 'unapplied-lost':
        lose();
        return;
      case 'applied-504':
        this.#cluster.answer(record);
        reply(refusal(504, null), 3000);
        return;
      case 'unapplied-504':
        reply(refusal(504, null), 3000);
        return;
      case 'late-504':
        this.#timeline.after(what.delayMs, () => void this.#cluster.answer(record));
        reply(refusal(504, null));
        return;
      case 'override':
        reply(this.#cluster.answer(record, what.replicas));
        return;
      default:
        what satisfies never;
    }
  }
}

function refusal(status: number, retryAfter: string | null): WireAnswer {
  return {
    status,
    retryAfter,
    body: JSON.stringify({ kind: 'Status', status: 'Failure', code: status, message: 'a fault' }),
  };
}

/** Returns whether a request belongs to a group. */
export function isInGroup(record: ApiRecord, group: RequestGroup): boolean {
  const isWatch = record.query['watch'] === '1';
  switch (group) {
    case 'all':
      return true;
    case 'patch':
      return record.subresource === 'scale' && record.method === 'PATCH';
    case 'scale':
      return record.subresource === 'scale';
    case 'list':
      return record.method === 'GET' && record.name === null && !isWatch;
    case 'watch':
      return isWatch;
    case 'lease':
      return record.resource === 'leases';
    case 'members':
      return record.resource === 'leases' && record.name === null && record.method === 'GET';
    case 'state':
      return record.resource === 'configmaps';
    case 'events':
      return record.resource === 'events';
    case 'hpa':
      return record.resource === 'horizontalpodautoscalers';
    default:
      return group satisfies never;
  }
}
