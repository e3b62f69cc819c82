import { countIn, objectIn, textIn, type JsonObject } from '../api/json.js';
import type { WatchedObject } from '../watch/object-store.js';

export const SCALER_GROUP = 'promscaler.dev';
export const SCALER_PLURAL = 'scalers';
export const SCALER_ROOT = `/apis/${SCALER_GROUP}/v1`;

export interface ScalerObject extends WatchedObject {
  readonly uid: string;
  readonly generation: number;
  /** `spec` as JSON, to compare versions of the document; empty if missing. */
  readonly specText: string;
  /** Not validated; null: none yet. */
  readonly status: JsonObject | null;
}

/** Returns null if the object has no name, uid, resourceVersion or generation. */
export function readScalerObject(object: JsonObject): ScalerObject | null {
  const metadata = objectIn(object, 'metadata');
  const [namespace, name] = [textIn(metadata, 'namespace'), textIn(metadata, 'name')];
  const [uid, resourceVersion] = [textIn(metadata, 'uid'), textIn(metadata, 'resourceVersion')];
  const generation = countIn(metadata, 'generation');
  if (namespace === null || name === null || uid === null || resourceVersion === null || generation === null)
    return null;
  const spec = Object.hasOwn(object, 'spec') ? object['spec'] : undefined;
  return {
    namespace,
    name,
    uid,
    resourceVersion,
    generation,
    specText: spec === undefined ? '' : writeSpec(spec),
    status: objectIn(object, 'status'),
  };
}

/**
 * JSON.stringify overflows the stack on thousands of levels, which JSON.parse accepts. One such object must not fail
 * the whole list.
 */
function writeSpec(spec: unknown): string {
  try {
    return JSON.stringify(spec);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return JSON.stringify('nested too deeply');
  }
}
