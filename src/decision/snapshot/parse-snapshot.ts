import { parseScaler } from '../../scaler/read/parse-scaler.js';
import type { Scaler } from '../../scaler/spec.js';
import { SAMPLE_FAILURE_REASONS } from '../../units/failure.js';
import { parseQuantity } from '../../units/quantity.js';
import type { Milli } from '../../units/quantity.js';
import {
  type Field,
  ifSet,
  integerFrom,
  JsonShapeError,
  listOf,
  mapOf,
  optional,
  orElse,
  orNull,
  readArray,
  readBoolean,
  readFields,
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
import { EMPTY_STATE, listUsage } from './snapshot.js';

export class SnapshotError extends Error {
  override name = 'SnapshotError';
}

/**
 * Converts parsed JSON to a snapshot, with instants, milli-units and the defaults of the document. Rules across fields
 * of the document are not checked, because recordings and test vectors may violate them. Throws `SnapshotError` if the
 * structure is invalid or a field is unknown. The message contains the field and the rule.
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
  const snapshot = readFields(field, {
    scaler: readScaler,
    now: readInstant,
    target: readTarget,
    pods: orElse(readPods, []),
    samples: orElse(listOf(readSample), []),
    maxReplicasFrom: ifSet(readCeiling),
    podStartSeconds: ifSet(integerFrom(0)),
    loadHistory: ifSet(readHistory),
    state: readState,
  });
  const { length } = snapshot.samples;
  const expected = snapshot.scaler.spec.metrics.length;
  if (length > expected) {
    throw new SnapshotError(
      `samples has ${length} entries, must have at most one for each of the ${expected} metrics`,
    );
  }
  return snapshot;
}

function readScaler(field: Field): Scaler {
  const { scaler, problems } = parseScaler(field.value);
  if (scaler !== null) return scaler;
  const first = problems.find(({ severity }) => severity === 'error');
  throw new SnapshotError(`scaler: ${first?.message ?? 'is not a scaler document'}`);
}

function readTarget(field: Field): ReplicaCounts {
  const { specReplicas, statusReplicas = specReplicas } = readFields(field, {
    specReplicas: integerFrom(0),
    statusReplicas: ifSet(integerFrom(0)),
  });
  return { specReplicas, statusReplicas };
}

function readPods(field: Field): readonly Pod[] {
  const pods = readArray(field).map(readPod);
  const names = new Set(pods.map(({ name }) => name));
  if (names.size !== pods.length)
    throw new SnapshotError('pods has two pods with the same name, must have unique names');
  return pods;
}

const PHASES: readonly PodPhase[] = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'];

function readPod(field: Field): Pod {
  return readFields(field, {
    name: readString,
    phase: oneOf(PHASES),
    deleting: orElse(readBoolean, false),
    startTime: orNull(readInstant),
    ready: orNull(readBoolean),
    readyChangedAt: orNull(readInstant),
    requests: orElse(mapOf(mapOf(readQuantity)), NO_REQUESTS),
    podRequests: orNull(mapOf(readQuantity)),
    cpuLimit: ifSet(readQuantity),
  });
}

const NO_REQUESTS: Pod['requests'] = new Map();

function readQuantity(field: Field): Milli {
  const { value } = field;
  const milli = typeof value === 'string' || typeof value === 'number' ? parseQuantity(value) : null;
  if (milli === null || milli < 0n)
    throw new JsonShapeError(field, 'a quantity such as 500m or 1Gi, not negative');
  return milli;
}

function oneOf<T extends string>(allowed: readonly T[]): (field: Field) => T {
  return (field) => {
    const found = allowed.find((entry) => entry === field.value);
    if (found === undefined) throw new JsonShapeError(field, `one of ${allowed.join(', ')}`);
    return found;
  };
}

function readMeasuredCapacity(field: Field): MeasuredCapacity {
  return readFields(field, {
    value: readPositive,
    low: readPositive,
    high: readPositive,
    days: integerFrom(0),
    at: readInstant,
    drift: ifSet((drift) =>
      readFields(drift, { since: readInstant, before: readPositive, oldestPod: orNull(readInstant) }),
    ),
  });
}

function readPositive(field: Field): number {
  const value = readNumber(field);
  if (!(value > 0) || value === Infinity) throw new JsonShapeError(field, 'a number above 0');
  return value;
}

const KINDS: readonly SampleErrorKind[] = ['missing', 'nan', 'invalid', 'failed'];

const FORMS = ['error', 'values', 'pods', 'containers'] as const;

/**
 * A sample has exactly one form, and only the fields of that form are allowed: a `kind` next to values, or values next
 * to an error, are rejected.
 */
function readSample(field: Field): Sample {
  const given = readMap(field);
  const [form, second] = FORMS.filter((name) => given.get(name)?.value !== undefined);
  if (form === undefined || second !== undefined) {
    throw new JsonShapeError(field, 'an object with exactly one of containers, pods, values and error');
  }
  if (form === 'error') return readErrorSample(field);
  const timed = { at: readInstant, windowSeconds: orElse(integerFrom(0), 0) };
  const partial = orNull(readString);
  switch (form) {
    case 'values':
      return {
        form,
        ...readFields(field, {
          at: readInstant,
          values: listOf(readNumber),
          backlog: ifSet(readNumber),
          capacity: ifSet(readNumber),
          measuredCapacity: ifSet(readMeasuredCapacity),
          partial,
        }),
      };
    case 'pods': {
      const { pods, ...sample } = readFields(field, { ...timed, pods: mapOf(readNumber), partial });
      return { form, ...sample, pods: [...pods.keys()], values: [...pods.values()] };
    }
    case 'containers': {
      const { containers, ...sample } = readFields(field, {
        ...timed,
        learnedIntervalSeconds: readLearnedInterval,
        containers: mapOf(mapOf(readNumber)),
        served: ifSet(readNumber),
        partial,
      });
      return { form, ...sample, ...listUsage(containers) };
    }
    default:
      return form satisfies never;
  }
}

/** Returns null for null, which means that the interval is not known yet. Returns undefined if the field is absent. */
function readLearnedInterval(field: Field): number | null | undefined {
  return field.value === undefined ? undefined : optional(field, readNumber);
}

function readCeiling(field: Field): ValuesSample | ErrorSample {
  const sample = readSample(field);
  if (sample.form === 'values' || sample.form === 'error') return sample;
  throw new JsonShapeError(field, 'an object with values or error');
}

function readErrorSample(field: Field): Sample {
  const { error, kind, reason, since } = readFields(field, {
    error: readString,
    kind: orElse(oneOf(KINDS), 'failed'),
    reason: orElse(oneOf(SAMPLE_FAILURE_REASONS), 'unknown'),
    since: ifSet(readInstant),
  });
  const sample = errorSample(kind === 'failed' ? reason : kind, error);
  return since === undefined ? sample : { ...sample, failure: { ...sample.failure, since } };
}

function readState(field: Field): State {
  return readFields(field.value === undefined || field.value === null ? { ...field, value: {} } : field, {
    lastScaleUp: orNull(readInstant),
    lastScaleDown: orNull(readInstant),
    recommendations: orNull(listOf(readRecommendation)),
    scaleEvents: orElse(listOf(readScaleEvent), []),
    downscaleProposals: orElse(listOf(readRecommendation), []),
    holdScaleDownUntil: orNull(readInstant),
    holdReason: orNull(readString),
    failingSince: orElse(mapOf(readInstant), EMPTY_STATE.failingSince),
    zeroedBySelf: orElse(readBoolean, false),
    inactiveSince: orNull(readInstant),
    maxReplicasFrom: ifSet(integerFrom(0)),
    saturation: ifSet(readSaturation),
    forecast: ifSet(readForecastState),
    documentChangedAt: ifSet(readInstant),
    firstCountAt: ifSet(readInstant),
  });
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
