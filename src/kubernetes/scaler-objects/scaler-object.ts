import { countIn, objectIn, textIn, type JsonObject } from '../json.js';
import type { WatchedObject } from '../watch/object-store.js';

/** As the API server has it: `scalers.promscaler.dev`. */
export const SCALER_GROUP = 'promscaler.dev';
export const SCALER_PLURAL = 'scalers';
export const SCALER_ROOT = `/apis/${SCALER_GROUP}/v1`;

/** A scaler document that is an object of the cluster. */
export interface ScalerObject extends WatchedObject {
  readonly uid: string;
  /** Counts the changes of its `spec`. */
  readonly generation: number;
  /** Its `spec` as JSON, which tells versions of the document apart; empty where it has none. */
  readonly specText: string;
  /** As it stands there, nobody has checked it; null: none yet. */
  readonly status: JsonObject | null;
}

/** What is needed of an object; null where it has no name, or nothing to tell its versions apart. */
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

/** JSON of thousands of levels can be read and not written: such an object must not keep the others from being listed. */
function writeSpec(spec: unknown): string {
  try {
    return JSON.stringify(spec);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return JSON.stringify('nested too deeply to be read');
  }
}
