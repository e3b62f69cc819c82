import type { Path } from '../../scaler/problems/finding.js';
import type { PlainObject } from '../../scaler/plain-json.js';
import type { DraftItem } from '../draft/draft.js';
import type { Fields } from '../manifest/fields.js';

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

/** In Kubernetes, all values of the metadata are strings; other scalars are converted. */
export function metadataText(metadata: Fields, key: string): string | undefined {
  const value = metadata.raw(key);
  if (typeof value === 'string') return value.trim();
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

/** Returns a boolean of the metadata; undefined: it is missing or none. */
export function metadataFlag(metadata: Fields, key: string): boolean | undefined {
  return parseBoolean(metadataText(metadata, key));
}

/** Parses a boolean like strconv.ParseBool of Go, which KEDA uses; undefined: it is none. */
export function parseBoolean(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  if (/^(?:1|t|T|TRUE|true|True)$/.test(text)) return true;
  return /^(?:0|f|F|FALSE|false|False)$/.test(text) ? false : undefined;
}

/** Records a remark for each metadata field that was not read. */
export function remarkOnRest(metadata: Fields): void {
  for (const key of Object.keys(metadata.value)) {
    if (!key.endsWith('FromEnv')) continue;
    const message =
      'is read from the environment of the workload, which scaler documents cannot; FILL IN the value';
    metadata.log.lose([...metadata.path, key], message);
    metadata.skip(key);
  }
  metadata.rest();
}

/** Returns an External metric for the user to complete. */
export function offMetric(trigger: Trigger, external: PlainObject): ReadTrigger {
  const item = { value: { external }, from: trigger.path, isOff: true };
  return { list: 'metrics', item };
}
