import type { JudgedMetric } from './proposals/propose.js';
import { explainCount } from './explain.js';
import type { Measured } from './explain.js';
import type { Condition, Decision, LimitStep, MetricResult } from './result/decision.js';
import type { Snapshot } from './snapshot/snapshot.js';

interface Parts {
  readonly desired: number;
  readonly recommended: number | null;
  readonly metrics: readonly JudgedMetric[];
  readonly steps: readonly LimitStep[];
  readonly conditions: readonly Condition[];
  /** The reason, or what it is written from. */
  readonly reason: string | Measured;
  readonly state: Decision['state'];
}

/**
 * Its reason is written when it is first read: those of most decisions never are. A property of the object, not of the
 * class, so that copies and comparisons have it.
 */
export class Decided implements Decision {
  static readonly #REASON: PropertyDescriptor & ThisType<Decided> = {
    enumerable: true,
    get() {
      if (typeof this.#reason !== 'string') this.#reason = explainCount(this, this.#reason);
      return this.#reason;
    },
  };

  readonly currentReplicas: number;
  readonly desiredReplicas: number;
  readonly action: Decision['action'];
  declare readonly reason: string;
  readonly recommendedReplicas: number | null;
  readonly minReplicas: number;
  readonly maxReplicas: number;
  readonly metrics: readonly MetricResult[];
  readonly limits: readonly LimitStep[];
  readonly conditions: readonly Condition[];
  readonly state: Decision['state'];
  #reason: string | Measured;

  constructor({ scaler, target }: Snapshot, parts: Parts) {
    const { desired, metrics } = parts;
    const change = desired - target.specReplicas;
    this.currentReplicas = target.specReplicas;
    this.desiredReplicas = desired;
    this.action = change === 0 ? 'none' : change > 0 ? 'scale-up' : 'scale-down';
    this.recommendedReplicas = parts.recommended;
    this.minReplicas = scaler.spec.minReplicas;
    this.maxReplicas = scaler.spec.maxReplicas;
    this.metrics = metrics.map(({ result }) => result);
    this.limits = parts.steps;
    this.conditions = parts.conditions;
    this.state = parts.state;
    this.#reason = parts.reason;
    Object.defineProperty(this, 'reason', Decided.#REASON);
  }
}
