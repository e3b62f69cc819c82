import { countIn, objectsIn, textIn, type JsonObject } from '../../kubernetes/json.js';

/** A condition before it is known when it came to be so. */
export interface StatedCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  /** Of the document it speaks of; absent: that is not known. */
  readonly observedGeneration?: number;
}

/** As in `metav1.Condition`. */
export interface ShownCondition extends StatedCondition {
  /** RFC 3339. */
  readonly lastTransitionTime: string;
}

/** `status` of a scaler object. What is not known is absent, never 0. */
export interface ObjectStatus extends StatusNumbers {
  readonly observedGeneration: number;
  readonly conditions: readonly ShownCondition[];
}

export interface StatusNumbers {
  readonly currentReplicas?: number;
  readonly desiredReplicas?: number;
  /** RFC 3339. */
  readonly lastScaleTime?: string;
  /** As autoscaling/v2 has them. */
  readonly currentMetrics?: readonly JsonObject[];
}

const STATUSES = ['True', 'False', 'Unknown'] as const;

/** The conditions that an object shows; what is none is left out. */
export function shownConditions(shown: JsonObject | null): readonly ShownCondition[] {
  return objectsIn(shown, 'conditions').flatMap((condition) => {
    const type = textIn(condition, 'type');
    const status = STATUSES.find((one) => one === condition['status']);
    const lastTransitionTime = textIn(condition, 'lastTransitionTime');
    if (type === null || status === undefined || lastTransitionTime === null) return [];
    const observedGeneration = countIn(condition, 'observedGeneration');
    return [
      {
        type,
        status,
        reason: textIn(condition, 'reason') ?? '',
        message: textIn(condition, 'message') ?? '',
        ...(observedGeneration === null ? {} : { observedGeneration }),
        lastTransitionTime,
      },
    ];
  });
}

/** The numbers that an object shows. */
export function shownNumbers(shown: JsonObject | null): StatusNumbers {
  const [current, desired] = [countIn(shown, 'currentReplicas'), countIn(shown, 'desiredReplicas')];
  const lastScaleTime = textIn(shown, 'lastScaleTime');
  const metrics = objectsIn(shown, 'currentMetrics');
  return {
    ...(current === null ? {} : { currentReplicas: current }),
    ...(desired === null ? {} : { desiredReplicas: desired }),
    ...(lastScaleTime === null ? {} : { lastScaleTime }),
    ...(metrics.length === 0 ? {} : { currentMetrics: metrics }),
  };
}

const FIELDS = [
  'observedGeneration',
  'currentReplicas',
  'desiredReplicas',
  'lastScaleTime',
  'conditions',
  'currentMetrics',
] as const satisfies readonly (keyof ObjectStatus)[];

/** The merge-patch that makes the one of the other: what is not known any more is taken away. Other fields stay. */
export function statusPatch(shown: JsonObject | null, wanted: ObjectStatus): JsonObject {
  const gone = FIELDS.filter((field) => wanted[field] === undefined && Object.hasOwn(shown ?? {}, field));
  return { ...wanted, ...Object.fromEntries(gone.map((field) => [field, null])) };
}

/**
 * How much an object shows something else than is wanted. `soon`: what people and programs wait for, the replica
 * counts, whether the document is accepted and the scaler works. `later`: words and numbers that a metric moves.
 */
export function statusDifference(shown: JsonObject | null, wanted: ObjectStatus): 'none' | 'later' | 'soon' {
  const now = { observedGeneration: countIn(shown, 'observedGeneration'), ...readShown(shown) };
  if (sorted(urgentOf(now)) !== sorted(urgentOf(wanted))) return 'soon';
  return sorted(now) === sorted({ ...wanted }) ? 'none' : 'later';
}

function readShown(shown: JsonObject | null): Omit<ObjectStatus, 'observedGeneration'> {
  return { ...shownNumbers(shown), conditions: shownConditions(shown) };
}

/** Conditions whose status is news at once; the others come and go with every sample. */
const URGENT: ReadonlySet<string> = new Set(['Accepted', 'Ready', 'AbleToScale', 'ScalingActive', 'Held']);

function urgentOf({
  observedGeneration,
  currentReplicas,
  desiredReplicas,
  lastScaleTime,
  conditions,
}: Omit<ObjectStatus, 'observedGeneration'> & { readonly observedGeneration: number | null }): unknown {
  const urgent = conditions
    .filter(({ type }) => URGENT.has(type))
    // Why it is able to scale is words; why it is not, or what holds it, is what a person looks for.
    .map(({ type, status, reason }) => [type, status, status === 'False' || type === 'Held' ? reason : ''])
    .sort(([a = ''], [b = '']) => (a < b ? -1 : 1));
  // Whoever waits for a generation waits for that of each condition.
  const generations = [...new Set(conditions.map((one) => one.observedGeneration ?? null))].sort();
  return { observedGeneration, currentReplicas, desiredReplicas, lastScaleTime, urgent, generations };
}

/** As JSON with the members in one order, lists of conditions by their type: a server may have another one. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (Array.isArray(part)) return part.every(isTyped) ? part.toSorted(byType) : (part as unknown);
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

function isTyped(value: unknown): value is ShownCondition {
  return typeof value === 'object' && value !== null && 'lastTransitionTime' in value;
}

function byType(a: ShownCondition, b: ShownCondition): number {
  return a.type < b.type ? -1 : 1;
}
