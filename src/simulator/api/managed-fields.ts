import type { stringAt } from '../json.js';
import { type JsonObject, isObject, listAt, numberAt, valueAt } from '../json.js';
import { type KubeObject, timestamp, withMetadata } from './objects.js';

/** Who writes, and how. */
export interface Writer {
  readonly manager: string;
  /** `scale`, or empty for the object itself. */
  readonly subresource: string;
  readonly nowMs: number;
  /** Whether a field that the schema of a custom resource does not know is an error, rather than left out. */
  readonly isStrict?: boolean;
  /** Whether the answer alone is wanted (`dryRun=All`), as `kubectl diff` asks: nothing is stored. */
  readonly isDryRun?: boolean;
}

/** The manager of a request: `fieldManager`, else the user agent up to its first slash, as the server has it. */
export function managerOf(query: URLSearchParams, userAgent: string | undefined): string {
  const named = query.get('fieldManager');
  if (named !== null && named !== '') return named;
  const agent = (userAgent ?? '').split('/')[0] ?? '';
  return agent === '' ? 'unknown' : agent.slice(0, 128);
}

/**
 * The object with `spec.replicas` owned by who changed it, in `metadata.managedFields`. Other fields have no owners
 * here: whoever asks wants to know who scaled.
 */
export function ownReplicas(before: KubeObject | null, after: KubeObject, writer: Writer): KubeObject {
  const replicas = numberAt(after, 'spec', 'replicas');
  if (replicas === null || replicas === numberAt(before, 'spec', 'replicas')) return after;
  const others = listAt(after, 'metadata', 'managedFields').filter((entry) => !ownsReplicas(entry));
  const entry: JsonObject = {
    manager: writer.manager,
    operation: 'Update',
    apiVersion: after.apiVersion,
    time: timestamp(writer.nowMs),
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:spec': { 'f:replicas': {} } },
    subresource: writer.subresource === '' ? undefined : writer.subresource,
  };
  return withMetadata(after, { managedFields: [...others, entry] });
}

function ownsReplicas(entry: Parameters<typeof stringAt>[0]): boolean {
  return isObject(entry) && valueAt(entry, 'fieldsV1', 'f:spec', 'f:replicas') !== undefined;
}
