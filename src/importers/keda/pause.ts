import type { PlainObject } from '../../scaler/plain-json.js';
import { formatValue } from '../../scaler/problems/finding.js';
import type { RemarkLog } from '../draft/remarks.js';
import { parseBoolean } from './trigger.js';

const PREFIX = 'autoscaling.keda.sh/';

export function readPause(annotations: PlainObject, log: RemarkLog): PlainObject {
  const valueOf = (name: string): unknown => annotations[`${PREFIX}${name}`];
  // Any value that is no boolean is true. Source: apis/keda/v1alpha1/scaledobject_types.go, getBoolAnnotation
  const isSet = (name: string): boolean => {
    const value = valueOf(name);
    return typeof value === 'string' && (parseBoolean(value) ?? true);
  };
  const replicas = valueOf('paused-replicas');
  if (replicas !== undefined) {
    const path = ['metadata', 'annotations', `${PREFIX}paused-replicas`];
    log
      .at(['spec', 'paused'])
      .lose(path, `is ${formatValue(replicas)}: set the replicas with promscaler pause --replicas`);
  }
  const isUpPaused = isSet('paused-scale-out');
  const isDownPaused = isSet('paused-scale-in');
  if (replicas !== undefined || isSet('paused') || (isUpPaused && isDownPaused)) return { paused: true };
  if (isUpPaused) return { paused: 'scale-up' };
  return isDownPaused ? { paused: 'scale-down' } : {};
}
