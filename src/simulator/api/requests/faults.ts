import type { Verb } from './request.js';

/** Selects requests or watch events. An unset field matches everything. */
export interface FaultMatch {
  readonly verbs?: readonly Verb[];
  readonly resource?: string;
  /** For example `scale`; empty: only requests for the object itself. */
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly userAgent?: string;
}

export type FaultEffect =
  /** The request gets this response and changes nothing. Default body: a Status with the code `status`. */
  | {
      readonly kind: 'refuse';
      readonly status: number;
      readonly retryAfter?: string;
      readonly body?: string;
      readonly reason?: string;
    }
  | { readonly kind: 'delay'; readonly ms: number }
  | { readonly kind: 'drop' }
  /** The request is applied, but the connection is closed without a response. */
  | { readonly kind: 'lose-answer' }
  /** The request gets 504 at once, and is applied after this time. */
  | { readonly kind: 'apply-late'; readonly ms: number }
  | { readonly kind: 'stall' }
  /** The request gets 403, as from a server that has not read its roles and bindings yet. */
  | { readonly kind: 'forbid' }
  /** The request gets 429 with `Retry-After` (default 1), as from API priority and fairness. */
  | { readonly kind: 'throttle'; readonly retryAfterSeconds?: number }
  /** The object is stored with these replicas, as by an admission webhook. */
  | { readonly kind: 'override-replicas'; readonly replicas: number };

type EventFault = 'swallow' | 'duplicate';

export interface Subject {
  readonly verb: Verb;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string | null;
  readonly name: string | null;
  readonly userAgent: string;
}

interface Planned<E> {
  readonly match: FaultMatch;
  readonly effect: E;
  left: number;
}

type RemoveFault = () => void;

/** The active faults. A request gets the first fault that matches it. A fault ends after it was used `times` times. */
export class FaultPlan {
  readonly #requests = new Set<Planned<FaultEffect>>();
  readonly #events = new Set<Planned<EventFault>>();

  /** Adds a fault for `times` requests. By default, it lasts until the returned function is called. */
  add(match: FaultMatch, effect: FaultEffect, times = Number.POSITIVE_INFINITY): RemoveFault {
    return plan(this.#requests, { match, effect, left: times });
  }

  /** Drops or duplicates `times` watch events. By default, the fault lasts until the returned function is called. */
  addEventFault(match: FaultMatch, effect: EventFault, times = Number.POSITIVE_INFINITY): RemoveFault {
    return plan(this.#events, { match, effect, left: times });
  }

  /** Returns the fault for a request and counts it as used; null: there is none. */
  takeForRequest(subject: Subject): FaultEffect | null {
    return take(this.#requests, subject);
  }

  takeForEvent(subject: Subject): EventFault | null {
    return take(this.#events, subject);
  }
}

function plan<E>(faults: Set<Planned<E>>, fault: Planned<E>): RemoveFault {
  faults.add(fault);
  return () => faults.delete(fault);
}

function take<E>(faults: Set<Planned<E>>, subject: Subject): E | null {
  for (const fault of faults) {
    if (!matches(fault.match, subject)) continue;
    fault.left -= 1;
    if (fault.left <= 0) faults.delete(fault);
    return fault.effect;
  }
  return null;
}

export function matches(match: FaultMatch, subject: Subject): boolean {
  return (
    (match.verbs?.includes(subject.verb) ?? true) &&
    (match.resource ?? subject.resource) === subject.resource &&
    (match.subresource ?? subject.subresource) === subject.subresource &&
    (match.namespace ?? subject.namespace) === subject.namespace &&
    (match.name ?? subject.name) === subject.name &&
    subject.userAgent.includes(match.userAgent ?? '')
  );
}
