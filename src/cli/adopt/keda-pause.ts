import { pausedInKeda, whatHelps } from '../../decision/idle-autoscaler.js';
import { kedaPauses } from '../../importers/keda/import-scaled-object.js';
import type { JsonObject } from '../../kubernetes/api/json.js';
import { SCALED_OBJECT } from '../reach/source-kinds.js';
import { type AdoptContext, type ScalerObject, nameScaler, patchCommand, pausedIn } from './adoption.js';
import { commandText } from './other-autoscaler.js';
import { annotationsOf } from './saved-manifest.js';

/**
 * Returns that the ScaledObject is paused in KEDA, and how to end the pause, which a switch must not end silently; null:
 * it is not paused. `scaler`: unset if only the ScaledObject matters.
 */
export function whyPausedInKeda(
  context: AdoptContext,
  object: JsonObject | null,
  scaler?: ScalerObject,
): string | null {
  const { kind, namespace, name } = context.source;
  const keys = object === null || kind !== SCALED_OBJECT ? [] : kedaPauses(annotationsOf(object));
  if (keys.length === 0) return null;
  const { steps } = whatHelps({ kind: kind.kind, namespace, name, kedaPauses: keys });
  const end = steps.map(({ snippet }) => commandText(snippet, context)).join('; ');
  const why = pausedInKeda({ namespace, name }, keys);
  const paused = scaler === undefined ? false : pausedIn(scaler.object);
  if (scaler === undefined || paused === false) return `${why}. End the pause in KEDA: ${end}`;
  const document = `${nameScaler(context, scaler)} has spec.paused: ${JSON.stringify(paused)}`;
  return `${why}, and ${document}. End both pauses first: ${end}; and ${patchCommand(context, scaler, { paused: null })}`;
}
