import { valueAt } from '../scaler/plain-json.js';
import { OBJECTS_PATH } from '../scaler/problems/problem.js';
import { adoptedFrom, type Origin, type ScalerName } from '../scaler/spec.js';
import { deleteAutoscaler, whatHelps } from './idle-autoscaler.js';
import { findData } from './missing-data.js';
import { isUnusedObject } from './rejection.js';
import { activeHold } from './result/condition.js';
import { stopWriters } from './replicas-writers.js';
import {
  adoptCommand,
  command,
  keepReplicas,
  keyOf,
  kubectl,
  patch,
  patchObject,
  type Remedy,
  stopScaling,
  type TroubledScaler,
} from './snippet.js';

/** Returns how to end the conflict of a scaler with another autoscaler, a webhook or another client. */
export function endConflict(scaler: TroubledScaler): readonly Remedy[] {
  const { conditions, conflictingWriter, otherScaler } = scaler;
  if (otherScaler !== null) {
    const { second, whyNoCount } = otherScaler;
    if (second !== undefined) return [deleteOther(otherScaler), deleteOther(second)];
    const toKeepIt =
      whyNoCount === undefined
        ? patch(scaler, 'Or first compare the two autoscalers in dry run', { dryRun: true })
        : whatHelps(otherScaler).steps[0];
    return [
      ...(otherScaler.kind === 'Scaler'
        ? [correctTarget(scaler), deleteThis(scaler, 'Keep one of the two scalers. To keep the other')]
        : []),
      deleteOther(otherScaler),
      ...(adopt(scaler, '') === null || toKeepIt === undefined ? [] : [toKeepIt]),
    ];
  }
  if (activeHold(conditions)?.reason === 'ScaleOverridden')
    return [
      {
        text: 'Find the admission webhook that changes the replicas',
        snippet: command('kubectl get mutatingwebhookconfigurations'),
      },
      ...keepReplicas(scaler),
    ];
  return [...stopWriters(scaler, conflictingWriter?.managers ?? []), ...stopScaling(scaler)];
}

/** The target may come from a copied document. A deletion would then lose the scaler of the other workload. */
function correctTarget({ namespace, name, generation, file }: TroubledScaler): Remedy {
  const text =
    'If this scaler is for another workload, which promscaler does not scale now, correct spec.scaleTargetRef';
  return generation === null
    ? { text: `${text} in ${file ?? 'its file'}`, snippet: null }
    : { text, snippet: kubectl(namespace, 'edit', OBJECTS_PATH, name) };
}

/**
 * Returns how to delete a scaler. Only a person knows whether the scaler is still needed. `text` therefore states a
 * condition, such as a choice between two scalers.
 */
export function deleteThis(scaler: TroubledScaler, text: string): Remedy {
  const { generation, rejections } = scaler;
  const file = generation === null ? (scaler.file ?? 'its file') : null;
  const isAlsoObject = rejections.some(isUnusedObject);
  return deleteScaler(text, { ...scaler, file, isAlsoObject });
}

function deleteOther(
  other: Pick<OtherScaler, 'kind' | 'namespace' | 'name' | 'file' | 'isAlsoObject'>,
): Remedy {
  const { kind, namespace, name } = other;
  if (kind === 'Scaler') return deleteScaler('To keep this scaler', other);
  return {
    text: `To keep this scaler, delete ${kind} ${namespace}/${name}`,
    snippet: deleteAutoscaler(other),
  };
}

/**
 * If the document is a file, the command also deletes an object with the same name, which would otherwise take effect.
 */
function deleteScaler(text: string, scaler: ScalerName & Pick<OtherScaler, 'file' | 'isAlsoObject'>): Remedy {
  const { namespace, name, file, isAlsoObject = false } = scaler;
  const deletion = kubectl(namespace, 'delete', OBJECTS_PATH, name);
  const key = `${namespace}/${name}`;
  if (typeof file !== 'string')
    return { text: `${text}, delete ${key}${file === null ? '' : ' (or its file)'}`, snippet: deletion };
  return isAlsoObject
    ? { text: `${text}, remove ${key} from ${file}, and delete the object of this name`, snippet: deletion }
    : { text: `${text}, remove ${key} from ${file}`, snippet: null };
}

/**
 * Returns how to end a dry run. A second scaler of the target comes first: next to it, `adopt` switches nothing, and
 * after the dry run, the two are in conflict.
 */
export function endDryRun(scaler: TroubledScaler): readonly Remedy[] {
  const second = scaler.otherScaler?.scaler;
  const keepOne = 'Two scalers of one target are in conflict after the dry run. To keep this one, put';
  return [...(second === undefined ? [] : [putInDryRun(second, keepOne)]), ...endDryRunAlone(scaler)];
}

function endDryRunAlone(scaler: TroubledScaler): readonly Remedy[] {
  const { otherScaler: other, metrics, currentReplicas } = scaler;
  const isOfDocument = valueAt(scaler.document, ['spec', 'dryRun']) === true;
  const hasNoData = currentReplicas !== 0 && metrics.some(({ error }) => error !== null);
  const { namespace, generation } = scaler;
  const isOfObject = isOfDocument && generation !== null;
  const former = isOfObject ? adoptedFrom(scaler) : null;
  const idle = idleScaler(scaler, former);
  const help = idle === null ? null : whatHelps({ ...idle, namespace });
  const steps = help?.steps ?? [];
  const missing = hasNoData ? findData(scaler) : [];
  if (other?.second !== undefined) return [...steps, ...missing];
  const handOver = help?.adopt ?? null;
  // The state remains `DryRun` for a minute, because a hand-over or the first count of a new HPA may take that long.
  if (idle !== null && scaler.state.name === 'DryRun')
    return [
      ...(other === null ? seeFormer({ ...idle, namespace }) : [awaitCount({ ...idle, namespace })]),
      ...(other !== null && help?.endsDryRun === false && handOver !== null ? [handOver] : []),
      ...missing,
    ];
  if (isOfObject && handOver !== null)
    return [
      ...steps,
      handOver,
      ...(former !== null && other === null && help?.endsDryRun === true
        ? createAgain({ ...former, namespace })
        : []),
    ];
  // Without values, a dry run has nothing to compare, and a scaler cannot scale.
  if (hasNoData) return [...steps, ...missing];
  const [report, replace] = [adopt(scaler, '--report'), adopt(scaler, '--switch')];
  if (isOfDocument && other !== null && report !== null)
    return [
      { text: `Compare with ${other.kind} ${namespace}/${other.name}`, snippet: report },
      {
        text: `If the report allows it, replace the ${other.kind} in one step, which adopt --undo reverts`,
        snippet: replace,
      },
    ];
  return [
    ...steps,
    ...(other === null ? [] : makeWay(scaler, other)),
    isOfDocument
      ? patch(scaler, `${other === null ? 'Apply' : 'Then apply'} the decisions`, { dryRun: false })
      : { text: 'Start the service without --dry-run to apply the decisions', snippet: null },
  ];
}

/**
 * Returns the autoscaler that should scale the target of a dry run but does not: an HPA without desired replicas or
 * next to a second one, or `former`, from which the document was made, if the target has no autoscaler anymore. Null:
 * an autoscaler scales the target, or none is expected.
 */
function idleScaler({ otherScaler: other }: TroubledScaler, former: Origin | null) {
  if (other === null) return former;
  return other.whyNoCount === undefined && other.second === undefined ? null : other;
}

/** The service sees a new autoscaler within a minute. A deleted one never has desired replicas. */
function seeFormer(former: ScalerName & { readonly kind: string }): readonly Remedy[] {
  const { kind, namespace, name } = former;
  const snippet = adoptCommand(former, '--report');
  const what = `${kind === 'HorizontalPodAutoscaler' ? '' : 'HPA of '}${kind} ${namespace}/${name}`;
  return snippet === null
    ? []
    : [{ text: `The service sees no ${what}. See whether it is new or does not exist`, snippet }];
}

/** The service does not read the annotation with the manifest. */
function createAgain(former: ScalerName & { readonly kind: string }): readonly Remedy[] {
  const { kind, namespace, name } = former;
  const snippet = adoptCommand(former, '--undo');
  const text = `Or create ${kind} ${namespace}/${name} again, if adopt has saved its manifest`;
  return snippet === null ? [] : [{ text, snippet }];
}

function awaitCount({ kind, namespace, name }: ScalerName & { readonly kind: string }): Remedy {
  const isHpa = kind === 'HorizontalPodAutoscaler';
  return {
    text: `Wait until ${isHpa ? '' : 'the HPA of '}${kind} ${namespace}/${name} has desired replicas`,
    snippet: kubectl(namespace, 'get', 'hpa', ...(isHpa ? [name] : []), '--watch'),
  };
}

/** Another Scaler is put in dry run and not deleted, because it may contain the manifest of an adopted HPA. */
function makeWay(scaler: TroubledScaler, other: OtherScaler): readonly Remedy[] {
  if (other.kind !== 'Scaler') return [deleteOther(other)];
  return [
    correctTarget(scaler),
    { text: 'Compare with the scaler of the target', snippet: command(`promscaler explain ${keyOf(other)}`) },
    putInDryRun(other, 'To let this scaler scale, put'),
  ];
}

function putInDryRun(other: ScalerName & Pick<OtherScaler, 'file'>, text: string): Remedy {
  const { namespace, name, file } = other;
  const dryRun = `${text} ${namespace}/${name} in dry run`;
  return typeof file === 'string'
    ? { text: `${dryRun}. In ${file}, set`, snippet: { kind: 'edit', text: 'dryRun: true' } }
    : {
        text: `${dryRun}${file === null ? '' : ', with this command or in its file'}`,
        snippet: patchObject(other, { dryRun: true }),
      };
}

type OtherScaler = NonNullable<TroubledScaler['otherScaler']>;

/**
 * Returns the `adopt` command with a flag. Null unless the scaler is an object, and an HPA or a ScaledObject has the
 * same target.
 */
function adopt({ otherScaler: other, generation, namespace }: TroubledScaler, flag: string) {
  return other === null || generation === null ? null : adoptCommand({ ...other, namespace }, flag);
}
