import type { Verb } from './request.js';

/** Which requests (or watch events) a fault is for; what is absent matches everything. */
export interface FaultMatch {
  readonly verbs?: readonly Verb[];
  /** Plural, e.g. `pods`. */
  readonly resource?: string;
  /** `scale`; empty for the object itself. */
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  /** A part of the user agent. */
  readonly userAgent?: string;
}

/** What happens to a request. */
export type FaultEffect =
  /** Is answered with this, and not carried out. Without a body: a Status of that code. */
  | {
      readonly kind: 'refuse';
      readonly status: number;
      readonly retryAfter?: string;
      readonly body?: string;
      readonly reason?: string;
    }
  /** Is carried out and answered after this time. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** The connection ends at once; nothing is carried out. */
  | { readonly kind: 'drop' }
  /** Is carried out, then the connection ends without an answer. */
  | { readonly kind: 'lose-answer' }
  /** Is answered 504 and carried out this much later. */
  | { readonly kind: 'apply-late'; readonly ms: number }
  /** Is never answered, nor carried out. */
  | { readonly kind: 'stall' }
  /** Is answered 403, as by a server whose roles and bindings are not read yet. */
  | { readonly kind: 'forbid' }
  /** Is answered 429 with `Retry-After` (default 1), as by API priority and fairness. */
  | { readonly kind: 'throttle'; readonly retryAfterSeconds?: number }
  /** A webhook: the object is stored with these replicas instead. */
  | { readonly kind: 'override-replicas'; readonly replicas: number };

/** What happens to the events of a watch. */
export type EventFault = 'swallow' | 'duplicate';

/** A request or an event, as faults look at it. */
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

/** Takes a fault back. */
export type Mend = () => void;

/** The faults that are in force. Requests meet the first that matches; a fault ends after `times`. */
export class FaultPlan {
  readonly #requests = new Set<Planned<FaultEffect>>();
  readonly #events = new Set<Planned<EventFault>>();

  /** From now on, matching requests meet `effect`, `times` times (default: until it is taken back). */
  add(match: FaultMatch, effect: FaultEffect, times = Number.POSITIVE_INFINITY): Mend {
    return plan(this.#requests, { match, effect, left: times });
  }

  /** From now on, matching watch events are swallowed or sent twice, `times` times. */
  addEventFault(match: FaultMatch, effect: EventFault, times = Number.POSITIVE_INFINITY): Mend {
    return plan(this.#events, { match, effect, left: times });
  }

  /** What the request meets; null for nothing. Counts it. */
  takeForRequest(subject: Subject): FaultEffect | null {
    return take(this.#requests, subject);
  }

  /** What the event meets; null for nothing. Counts it. */
  takeForEvent(subject: Subject): EventFault | null {
    return take(this.#events, subject);
  }

  /** Takes all faults back. */
  clear(): void {
    this.#requests.clear();
    this.#events.clear();
  }
}

function plan<E>(faults: Set<Planned<E>>, fault: Planned<E>): Mend {
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

/** Whether a request, event or watch is meant. */
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
