import { formatValue, type Path } from '../../scaler/problems/finding.js';
import type { PlainObject } from '../../scaler/plain-json.js';
import type { DraftItem } from '../draft/draft.js';
import { type Fields, readQuantity } from '../manifest/fields.js';
import { parseQuantity } from '../../units/quantity.js';

export interface Trigger {
  readonly index: number;
  readonly path: Path;
  readonly type: string;
  readonly name: string | null;
  readonly metricType: string | null;
  readonly metadata: Fields;
  readonly authentication: string | null;
}

export interface ReadTrigger {
  readonly list: 'metrics' | 'schedules';
  readonly item: DraftItem;
}

/** Returns a value of the metadata as a string. In Kubernetes, all values are strings; other scalars are converted. */
export function metadataText(metadata: Fields, key: string): string | undefined {
  const value = metadata.raw(key);
  if (typeof value === 'string') return value.trim();
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

/** Returns a boolean of the metadata; undefined: it is unset or no boolean. */
export function metadataFlag(metadata: Fields, key: string): boolean | undefined {
  return parseBoolean(metadataText(metadata, key));
}

/** Parses a boolean like KEDA, with strconv.ParseBool of Go; undefined: the text is not a boolean. */
export function parseBoolean(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  if (/^(?:1|t|T|TRUE|true|True)$/.test(text)) return true;
  return /^(?:0|f|F|FALSE|false|False)$/.test(text) ? false : undefined;
}

/** Matches an activation threshold, which KEDA names after the target: `activationLagThreshold`. */
export const ACTIVATION = /^activation[A-Z]/;

/** The replica counts between which KEDA switches when a workload becomes active or inactive. */
export interface ActivationStep {
  readonly minimum: number;
  /** The replicas of an inactive workload, which a document cannot express; null: they equal `minimum`. */
  readonly idle: number | null;
}

/**
 * Returns `activation` of a metric; undefined: the workload may not scale to 0. `keys`: the fields that may contain the
 * threshold. Without a valid threshold, the default of KEDA applies, which is 0.
 */
export function readActivation(
  { value, path, log, skip }: Fields,
  keys: readonly string[],
  { minimum, idle }: ActivationStep,
): PlainObject | undefined {
  skip(...keys);
  const written = keys.filter((key) => value[key] !== undefined);
  if (minimum > 0) {
    for (const key of written)
      if (idle === null)
        log.note(
          [...path, key],
          `is ${formatValue(value[key])}, which has no effect: KEDA applies it only with minReplicaCount 0 or idleReplicaCount.`,
        );
      else
        log.lose(
          [...path, key],
          `is ${formatValue(value[key])}: while no value is above this threshold, KEDA sets idleReplicaCount (${idle}); promscaler keeps at least ${minimum}`,
        );
    return undefined;
  }
  const lose = (key: string, message: string): void =>
    log.lose([...path, key], `is ${formatValue(value[key])}${message}`);
  if (written.length > 1) {
    for (const key of written)
      lose(key, ', but a metric of promscaler has one threshold. FILL IN activation.above, which is now 0');
    return { above: 0 };
  }
  const [key] = written;
  if (key === undefined) return { above: 0 };
  const above = readQuantity(value[key]);
  if (above !== undefined && (parseQuantity(String(above)) ?? -1n) >= 0n) return { above };
  lose(key, ', must be a quantity of at least 0; 0 is used');
  return { above: 0 };
}

/** Adds a remark for each field whose value is in the environment of the workload, which a document cannot read. */
export function remarkOnEnvironment(metadata: Fields, keys: readonly string[]): void {
  for (const key of keys) {
    if (!key.endsWith('FromEnv')) continue;
    const message =
      'is read from the environment of the workload, but a scaler document cannot read the environment. FILL IN the value';
    metadata.log.lose([...metadata.path, key], message);
    metadata.skip(key);
  }
}

/** Adds a remark for each field of the metadata that was not read. */
export function remarkOnRest(metadata: Fields, read: readonly string[] = []): void {
  const keys = Object.keys(metadata.value);
  remarkOnEnvironment(metadata, keys);
  for (const key of keys) {
    if (!ACTIVATION.test(key) || key.endsWith('FromEnv') || read.includes(key)) continue;
    metadata.log.lose(
      [...metadata.path, key],
      `is ${formatValue(metadata.value[key])}, which has no equivalent`,
    );
    metadata.skip(key);
  }
  metadata.rest();
}

/** Returns an External metric that is commented out, because the user must complete it. */
export function offMetric(trigger: Trigger, external: PlainObject): ReadTrigger {
  const item = { value: { external }, from: trigger.path, isOff: true };
  return { list: 'metrics', item };
}
