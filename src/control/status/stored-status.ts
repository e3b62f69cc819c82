import { countIn, objectsIn, textIn, type JsonObject } from '../../kubernetes/api/json.js';
import type { EarlierTimes } from '../../telemetry/ledger.js';
import { parseInstant } from '../../units/time.js';

export interface NewCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  /** The generation of the document that the condition describes; absent: unknown. */
  readonly observedGeneration?: number;
}

/** A condition with the fields of `metav1.Condition`. */
export interface StatusCondition extends NewCondition {
  readonly lastTransitionTime: string;
}

/** The `status` of a Scaler object. A field that is unknown is absent, never 0. */
export interface ObjectStatus extends StatusNumbers, StatusState {
  readonly observedGeneration: number;
  readonly conditions: readonly StatusCondition[];
}

export interface StatusNumbers {
  readonly currentReplicas?: number;
  readonly desiredReplicas?: number;
  readonly lastScaleTime?: string;
  /**
   * The columns REFERENCE, TARGETS, MIN and MAX of `kubectl get scalers`. They are in the status, because `spec` may be
   * a rejected version.
   */
  readonly reference?: string;
  readonly targets?: string;
  readonly minReplicas?: number;
  readonly maxReplicas?: number;
  /** The current metrics, in the form of `status.currentMetrics` in autoscaling/v2. */
  readonly currentMetrics?: readonly JsonObject[];
}

/** The columns STATE, SINCE and CAUSE of `kubectl get scalers`. */
export interface StatusState {
  readonly state?: string;
  readonly stateSince?: string;
  readonly cause?: string;
}

const STATUSES = ['True', 'False', 'Unknown'] as const;

export function storedConditions(stored: JsonObject | null): readonly StatusCondition[] {
  return objectsIn(stored, 'conditions').flatMap((condition) => {
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

const COUNTS = ['currentReplicas', 'desiredReplicas', 'minReplicas', 'maxReplicas'] as const;
const TEXTS = ['lastScaleTime', 'reference', 'targets'] as const;
const STATE_TEXTS = ['state', 'stateSince', 'cause'] as const;

export function storedNumbers(stored: JsonObject | null): StatusNumbers {
  const metrics = objectsIn(stored, 'currentMetrics');
  return {
    ...known(COUNTS, (name) => countIn(stored, name)),
    ...known(TEXTS, (name) => textIn(stored, name)),
    ...(metrics.length === 0 ? {} : { currentMetrics: metrics }),
  };
}

export function storedState(stored: JsonObject | null): StatusState {
  return known(STATE_TEXTS, (name) => textIn(stored, name));
}

/** Returns the fields that have a value; `read` returns null for a field without one. */
function known<K extends string, T>(
  names: readonly K[],
  read: (name: K) => T | null,
): { readonly [name in K]?: T } {
  const fields = names.map((name) => [name, read(name)] as const);
  return Object.fromEntries(fields.filter(([, value]) => value !== null)) as { readonly [name in K]?: T };
}

/** Returns the times that an earlier process has written; null: there is no status, or it has no state. */
export function earlierTimes(stored: JsonObject | null): EarlierTimes | null {
  const { state, stateSince } = storedState(stored);
  const since = parseInstant(stateSince ?? '');
  if (state === undefined || since === null) return null;
  const conditions = storedConditions(stored).flatMap(({ type, status, lastTransitionTime }) => {
    const lastTransition = parseInstant(lastTransitionTime);
    return lastTransition === null ? [] : [{ type, status, lastTransition }];
  });
  return { state, stateSince: since, conditions };
}

const FIELDS = [
  'observedGeneration',
  'conditions',
  'currentMetrics',
  ...STATE_TEXTS,
  ...COUNTS,
  ...TEXTS,
] as const satisfies readonly (keyof ObjectStatus)[];

/**
 * Returns the merge-patch that changes the stored status to the wanted one. It removes fields that are now unknown and
 * keeps fields of other clients.
 */
export function statusPatch(stored: JsonObject | null, wanted: ObjectStatus): JsonObject {
  const removed = FIELDS.filter((field) => wanted[field] === undefined && Object.hasOwn(stored ?? {}, field));
  return { ...wanted, ...Object.fromEntries(removed.map((field) => [field, null])) };
}

/**
 * Returns how soon the status must be written. `soon`: clients wait for a changed field (important conditions), or
 * `kubectl get scalers` shows it (state, replicas, bounds). `later`: only messages or metric values differ.
 */
export function statusDifference(stored: JsonObject | null, wanted: ObjectStatus): 'none' | 'later' | 'soon' {
  const now = { observedGeneration: countIn(stored, 'observedGeneration'), ...readStored(stored) };
  if (!isSameJson(urgentOf(now), urgentOf(wanted))) return 'soon';
  return isSameJson(now, wanted) ? 'none' : 'later';
}

function readStored(stored: JsonObject | null): Omit<ObjectStatus, 'observedGeneration'> {
  return { ...storedState(stored), ...storedNumbers(stored), conditions: storedConditions(stored) };
}

/** The conditions for which clients wait. Other conditions may change with each sample. */
const URGENT: ReadonlySet<string> = new Set(['Accepted', 'Ready', 'AbleToScale', 'ScalingActive', 'Held']);

function urgentOf({
  observedGeneration,
  currentReplicas,
  desiredReplicas,
  minReplicas,
  maxReplicas,
  lastScaleTime,
  state,
  reference,
  conditions,
}: Omit<ObjectStatus, 'observedGeneration'> & { readonly observedGeneration: number | null }): unknown {
  const urgent = conditions
    .filter(({ type }) => URGENT.has(type))
    // The reason is compared only if the scaler cannot scale or is held.
    .map(({ type, status, reason }) => [type, status, status === 'False' || type === 'Held' ? reason : ''])
    .sort(([a = ''], [b = '']) => (a < b ? -1 : 1));
  // Clients that wait for a generation read the `observedGeneration` of each condition, so its change is urgent.
  const generations = [...new Set(conditions.map((one) => one.observedGeneration ?? null))].sort();
  const counts = { currentReplicas, desiredReplicas, minReplicas, maxReplicas, lastScaleTime };
  return { observedGeneration, ...counts, state, reference, urgent, generations };
}

/** Compares two JSON values, but not the order of fields and conditions, which the server may change. */
function isSameJson(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || a === null || typeof b !== 'object' || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  if (Array.isArray(a) && Array.isArray(b)) {
    if (a.length !== b.length) return false;
    const [first, second] =
      a.every(isTyped) && b.every(isTyped) ? [a.toSorted(byType), b.toSorted(byType)] : [a, b];
    return first.every((part: unknown, index) => isSameJson(part, second[index]));
  }
  const [own, other] = [presentFields(a), new Map(presentFields(b))];
  return (
    own.length === other.size &&
    own.every(([name, part]) => other.has(name) && isSameJson(part, other.get(name)))
  );
}

function presentFields(value: object): readonly (readonly [string, unknown])[] {
  return Object.entries(value).filter(([, part]) => part !== undefined);
}

function isTyped(value: unknown): value is StatusCondition {
  return typeof value === 'object' && value !== null && 'lastTransitionTime' in value;
}

function byType(a: StatusCondition, b: StatusCondition): number {
  return a.type < b.type ? -1 : 1;
}
