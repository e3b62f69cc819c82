import { parseScaler } from '../../scaler/read/parse-scaler.js';
import type { Scaler } from '../../scaler/spec.js';
import { SAMPLE_FAILURE_REASONS } from '../../units/failure.js';
import { parseQuantity } from '../../units/quantity.js';
import type { Milli } from '../../units/quantity.js';
import type { Field } from './json-reader.js';
import {
  JsonShapeError,
  optional,
  readArray,
  readBoolean,
  readInstant,
  readInteger,
  readMap,
  readNumber,
  readObject,
  readString,
} from './json-reader.js';
import type {
  ErrorSample,
  MeasuredCapacity,
  Pod,
  PodPhase,
  PodsSample,
  ReplicaCounts,
  Sample,
  SampleErrorKind,
  Saturation,
  Snapshot,
  State,
  ValuesSample,
} from './snapshot.js';
import { readForecastState, readHistory, readRecommendation, readScaleEvent } from './read-forecast.js';
import { errorSample } from './judge-sample.js';
import { listUsage } from './snapshot.js';

export class SnapshotError extends Error {
  override name = 'SnapshotError';
}

/**
 * Converts parsed JSON to a snapshot, with instants, milli-units and the defaults of the document. Rules across fields
 * of the document are not checked, because recordings and test vectors may violate them. Throws `SnapshotError` if the
 * structure is invalid or a field is unknown; the message contains the field and the rule.
 */
export function parseSnapshot(json: unknown): Snapshot {
  try {
    return readSnapshot({ path: '', value: json });
  } catch (error) {
    if (error instanceof JsonShapeError) throw new SnapshotError(error.message, { cause: error });
    throw error;
  }
}

function readSnapshot(field: Field): Snapshot {
  const snapshot = readObject(field, [
    'scaler',
    'now',
    'target',
    'pods',
    'samples',
    'maxReplicasFrom',
    'podStartSeconds',
    'loadHistory',
    'state',
  ]);
  const { scaler, now, target, pods, samples, maxReplicasFrom, podStartSeconds, state } = snapshot;
  const ceiling = optional(maxReplicasFrom, readCeiling);
  const parsed = readScaler(scaler);
  const sampleFields = optional(samples, readArray) ?? [];
  const expected = parsed.spec.metrics.length;
  if (sampleFields.length > expected) {
    throw new SnapshotError(
      `samples has ${sampleFields.length} entries, must have at most one for each of the ${expected} metrics`,
    );
  }
  return {
    scaler: parsed,
    now: readInstant(now),
    target: readTarget(target),
    pods: readPods(pods),
    samples: sampleFields.map(readSample),
    ...(ceiling === null ? {} : { maxReplicasFrom: ceiling }),
    ...readOptional('podStartSeconds', podStartSeconds, (inner) => readInteger(inner, 0)),
    ...readOptional('loadHistory', snapshot.loadHistory, readHistory),
    state: readState(state),
  };
}

/** Returns `{ [name]: value }`, or `{}` if the field is not set. */
function readOptional<K extends string, T>(
  name: K,
  field: Field,
  read: (field: Field) => T,
): { readonly [key in K]?: T } {
  const value = optional(field, read);
  return value === null ? {} : ({ [name]: value } as { readonly [key in K]?: T });
}

function readScaler(field: Field): Scaler {
  const { scaler, problems } = parseScaler(field.value);
  if (scaler !== null) return scaler;
  const first = problems.find(({ severity }) => severity === 'error');
  throw new SnapshotError(`scaler: ${first?.message ?? 'is not a scaler document'}`);
}

function readTarget(field: Field): ReplicaCounts {
  const { specReplicas, statusReplicas } = readObject(field, ['specReplicas', 'statusReplicas']);
  const spec = readInteger(specReplicas, 0);
  return {
    specReplicas: spec,
    statusReplicas: optional(statusReplicas, (inner) => readInteger(inner, 0)) ?? spec,
  };
}

function readPods(field: Field): readonly Pod[] {
  const pods = (optional(field, readArray) ?? []).map(readPod);
  const names = new Set(pods.map(({ name }) => name));
  if (names.size !== pods.length)
    throw new SnapshotError('pods has two pods with the same name, must have unique names');
  return pods;
}

const PHASES: readonly PodPhase[] = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'];

function readPod(field: Field): Pod {
  const pod = readObject(field, [
    'name',
    'phase',
    'deleting',
    'startTime',
    'ready',
    'readyChangedAt',
    'requests',
    'podRequests',
    'cpuLimit',
  ]);
  return {
    name: readString(pod.name),
    phase: readOneOf(pod.phase, PHASES),
    deleting: optional(pod.deleting, readBoolean) ?? false,
    startTime: optional(pod.startTime, readInstant),
    ready: optional(pod.ready, readBoolean),
    readyChangedAt: optional(pod.readyChangedAt, readInstant),
    requests:
      optional(pod.requests, (inner) =>
        mapValues(inner, (container) => mapValues(container, readQuantity)),
      ) ?? new Map(),
    podRequests: optional(pod.podRequests, (inner) => mapValues(inner, readQuantity)),
    ...readOptional('cpuLimit', pod.cpuLimit, readQuantity),
  };
}

function mapValues<T>(field: Field, read: (field: Field) => T): ReadonlyMap<string, T> {
  return new Map([...readMap(field)].map(([name, inner]) => [name, read(inner)]));
}

function readQuantity(field: Field): Milli {
  const { value } = field;
  const milli = typeof value === 'string' || typeof value === 'number' ? parseQuantity(value) : null;
  if (milli === null || milli < 0n)
    throw new JsonShapeError(field, 'a quantity such as 500m or 1Gi, not negative');
  return milli;
}

function readOneOf<T extends string>(field: Field, allowed: readonly T[]): T {
  const found = allowed.find((entry) => entry === field.value);
  if (found === undefined) throw new JsonShapeError(field, `one of ${allowed.join(', ')}`);
  return found;
}

function readMeasuredCapacity(field: Field): MeasuredCapacity {
  const { value, low, high, days, at, drift } = readObject(field, [
    'value',
    'low',
    'high',
    'days',
    'at',
    'drift',
  ]);
  return {
    value: readPositive(value),
    low: readPositive(low),
    high: readPositive(high),
    days: readInteger(days, 0),
    at: readInstant(at),
    ...readOptional('drift', drift, (inner) => {
      const { since, before, oldestPod } = readObject(inner, ['since', 'before', 'oldestPod']);
      return {
        since: readInstant(since),
        before: readPositive(before),
        oldestPod: optional(oldestPod, readInstant),
      };
    }),
  };
}

function readPositive(field: Field): number {
  const value = readNumber(field);
  if (!(value > 0) || value === Infinity) throw new JsonShapeError(field, 'a number above 0');
  return value;
}

const KINDS: readonly SampleErrorKind[] = ['missing', 'nan', 'invalid', 'failed'];

const FORMS = ['error', 'values', 'pods', 'containers'] as const;

/**
 * A sample has exactly one form, whose fields are the only ones allowed: a `kind` next to values, or values next to an
 * error, is rejected.
 */
function readSample(field: Field): Sample {
  const given = readMap(field);
  const [form, second] = FORMS.filter((name) => given.get(name)?.value !== undefined);
  if (form === undefined || second !== undefined) {
    throw new JsonShapeError(field, 'an object with exactly one of containers, pods, values and error');
  }
  if (form === 'error') return readErrorSample(field);
  if (form === 'values') {
    const sample = readObject(field, ['at', form, 'backlog', 'capacity', 'measuredCapacity', 'partial']);
    return {
      form,
      ...readValued(sample),
      values: readArray(sample.values).map(readNumber),
      ...readOptional('backlog', sample.backlog, readNumber),
      ...readOptional('capacity', sample.capacity, readNumber),
      ...readOptional('measuredCapacity', sample.measuredCapacity, readMeasuredCapacity),
    };
  }
  if (form === 'pods') {
    const sample = readObject(field, ['at', 'windowSeconds', form, 'partial']);
    const byPod = mapValues(sample.pods, readNumber);
    return { form, ...readRate(sample), pods: [...byPod.keys()], values: [...byPod.values()] };
  }
  const sample = readObject(field, [
    'at',
    'windowSeconds',
    'learnedIntervalSeconds',
    form,
    'served',
    'partial',
  ]);
  const { containers, learnedIntervalSeconds: learned } = sample;
  return {
    form,
    ...readRate(sample),
    ...(learned.value === undefined ? {} : { learnedIntervalSeconds: optional(learned, readNumber) }),
    ...listUsage(mapValues(containers, (pod) => mapValues(pod, readNumber))),
    ...readOptional('served', sample.served, readNumber),
  };
}

function readCeiling(field: Field): ValuesSample | ErrorSample {
  const sample = readSample(field);
  if (sample.form === 'values' || sample.form === 'error') return sample;
  throw new JsonShapeError(field, 'an object with values or error');
}

function readRate(
  sample: Record<'at' | 'windowSeconds' | 'partial', Field>,
): Pick<PodsSample, 'at' | 'windowSeconds' | 'partial'> {
  const windowSeconds = optional(sample.windowSeconds, (inner) => readInteger(inner, 0)) ?? 0;
  return { ...readValued(sample), windowSeconds };
}

function readErrorSample(field: Field): Sample {
  const { error, kind: named, reason, since } = readObject(field, ['error', 'kind', 'reason', 'since']);
  const why = optional(reason, (inner) => readOneOf(inner, SAMPLE_FAILURE_REASONS));
  const kind = optional(named, (inner) => readOneOf(inner, KINDS)) ?? 'failed';
  const sample = errorSample(kind === 'failed' ? (why ?? 'unknown') : kind, readString(error));
  const start = optional(since, readInstant);
  return start === null ? sample : { ...sample, failure: { ...sample.failure, since: start } };
}

function readValued(sample: { readonly at: Field; readonly partial: Field }): {
  readonly at: Snapshot['now'];
  readonly partial: string | null;
} {
  return { at: readInstant(sample.at), partial: optional(sample.partial, readString) };
}

function readState(field: Field): State {
  const state = readObject(
    field.value === undefined || field.value === null ? { ...field, value: {} } : field,
    [
      'lastScaleUp',
      'lastScaleDown',
      'recommendations',
      'scaleEvents',
      'downscaleProposals',
      'holdScaleDownUntil',
      'holdReason',
      'failingSince',
      'zeroedBySelf',
      'inactiveSince',
      'maxReplicasFrom',
      'saturation',
      'forecast',
      'documentChangedAt',
    ],
  );
  const documentChangedAt = optional(state.documentChangedAt, readInstant);
  const maxReplicasFrom = optional(state.maxReplicasFrom, (inner) => readInteger(inner, 0));
  return {
    lastScaleUp: optional(state.lastScaleUp, readInstant),
    lastScaleDown: optional(state.lastScaleDown, readInstant),
    recommendations: optional(state.recommendations, readArray)?.map(readRecommendation) ?? null,
    scaleEvents: (optional(state.scaleEvents, readArray) ?? []).map(readScaleEvent),
    downscaleProposals: (optional(state.downscaleProposals, readArray) ?? []).map(readRecommendation),
    holdScaleDownUntil: optional(state.holdScaleDownUntil, readInstant),
    holdReason: optional(state.holdReason, readString),
    failingSince: optional(state.failingSince, (inner) => mapValues(inner, readInstant)) ?? new Map(),
    zeroedBySelf: optional(state.zeroedBySelf, readBoolean) ?? false,
    inactiveSince: optional(state.inactiveSince, readInstant),
    ...(maxReplicasFrom === null ? {} : { maxReplicasFrom }),
    ...readOptional('saturation', state.saturation, readSaturation),
    ...readOptional('forecast', state.forecast, readForecastState),
    ...(documentChangedAt === null ? {} : { documentChangedAt }),
  };
}

function readSaturation(field: Field): Saturation {
  const { since, served, stepAt, stepTo } = readObject(field, ['since', 'served', 'stepAt', 'stepTo']);
  const at = optional(stepAt, readInstant);
  return {
    since: optional(since, readInstant),
    served: optional(served, readNumber),
    step: at === null ? null : { at, to: readInteger(stepTo, 0) },
  };
}
