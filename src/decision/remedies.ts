import { valueAt } from '../scaler/plain-json.js';
import { isOfObject, OBJECTS_PATH } from '../scaler/problems/problem.js';
import { OTHER_WORK } from '../scaler/spec.js';
import { quoteForShell } from '../units/clean-text.js';
import { doctor, findData, queryAt } from './missing-data.js';
import { isUnusedObject } from './rejection.js';
import { ignoredAnnotations } from './result/condition.js';
import { disabledField } from './result/limit-names.js';
import { deleteThis, endConflict, endDryRun } from './remedies-of-conflicts.js';
import {
  command,
  fixForKind,
  hasAnnotations,
  keepReplicas,
  keyOf,
  kubectl,
  patch,
  pauseFor30Minutes,
  pauseLength,
  type Remedy,
  resume,
  start,
  targetOf,
  type TroubledScaler,
} from './snippet.js';
import type { StateName } from './severity.js';
import { countAre, countOf } from '../units/format.js';

/**
 * Returns what a person can do about the state of a scaler, the best command first; empty: the state needs no action. A
 * command contains only values from the document and the state.
 */
export function remediesOf(scaler: TroubledScaler): readonly Remedy[] {
  const find = REMEDIES[scaler.state.name];
  const ofState = find === undefined ? [] : find(scaler);
  const remedies = withIgnored(scaler, ofState);
  if (scaler.rejections.length === 0 || find === fixDocument) return remedies;
  const fixes = fixDocument(scaler);
  return scaler.rejections.some(isUnusedObject) ? [...remedies, ...fixes] : [...fixes, ...remedies];
}

/**
 * Adds the removal of annotations that have no effect. If an annotation was meant as a pause, keeping the replicas
 * comes first, because its author does not want the scaler to act.
 */
function withIgnored(scaler: TroubledScaler, ofState: readonly Remedy[]): readonly Remedy[] {
  const clauses = ignoredAnnotations(scaler.conditions);
  if (clauses.length === 0) return ofState;
  const removals = clauses.map((clause) => removeAnnotations(scaler, clause));
  const isPause = scaler.conditions.some(
    ({ reason, message }) => reason === 'AnnotationIgnored' && message.includes('promscaler pause'),
  );
  return isPause
    ? [...keepReplicas(scaler, 'If a pause was meant'), ...removals, ...ofState]
    : [...ofState, ...removals];
}

/**
 * `clause`: a result of `ignoredAnnotations`, such as `annotation promscaler.dev/pause of deployment shop/web has no
 * effect`.
 */
function removeAnnotations(scaler: TroubledScaler, clause: string): Remedy {
  const { namespace, name, target, generation, file } = scaler;
  const isOfDocument = / of Scaler /.test(clause);
  const [named = ''] = clause.replace(/^annotations? /, '').split(' of ');
  const keys = named.split(/, | and /).filter((key) => key.includes('/'));
  const text = `Remove the ${keys.length === 1 ? `annotation ${keys.join('')}, which has` : 'annotations that have'} no effect`;
  if (isOfDocument && generation === null)
    return { text: `${text}, from ${file ?? 'its file'}`, snippet: null };
  const object = isOfDocument ? [OBJECTS_PATH, name] : [target.kind.toLowerCase(), target.name];
  return { text, snippet: kubectl(namespace, 'annotate', ...object, ...keys.map((key) => `${key}-`)) };
}

type Find = (scaler: TroubledScaler) => readonly Remedy[];

/** A state without an entry ends automatically or needs no action. */
const REMEDIES: Partial<Record<StateName, Find>> = {
  Invalid: fixDocument,
  Rejected: fixDocument,
  Conflict: endConflict,
  NoTarget: findWorkload,
  WriteFailed: (scaler) => [
    {
      text: 'Check the permissions of promscaler, and find what rejects its requests',
      snippet: doctor(scaler),
    },
  ],
  PodsNotReady: (scaler) => [...startPods(scaler), ...keepReplicas(scaler)],
  NoData: (scaler) => [...startFromZero(scaler), ...findData(scaler)],
  NoSeries: findSeries,
  AtMaximum: raiseMaximum,
  Stabilizing: forgetWrongValue,
  Fixed: (scaler) => {
    const disabled = scaler.decision?.limits.map(disabledField).find((field) => field !== null);
    if (disabled != null) return [enableChange(scaler, disabled)];
    if (scaler.currentReplicas !== 0) return raiseMaximum(scaler);
    const minReplicas = valueAt(scaler.document, ['spec', 'minReplicas']);
    const snippet = start(scaler.namespace, targetOf(scaler), minReplicas);
    return [{ text: 'Start the target, which enables scaling again', snippet }];
  },
  Paused: endPause,
  NoAutoscaler: endDryRun,
  DryRun: endDryRun,
};

/** Returns how to correct a rejected document, or which of two documents with the same name to delete. */
export function fixDocument(
  scaler: Pick<TroubledScaler, 'namespace' | 'name' | 'rejections' | 'generation' | 'file'>,
): readonly Remedy[] {
  const { namespace, name, rejections, generation, file: inEffect } = scaler;
  const unused = rejections.find(isUnusedObject);
  const own = rejections.find((one) => one.file !== null && one.file !== unused?.file);
  const where = generation === null ? (inEffect ?? 'its file') : (own?.file ?? 'its file');
  const choice: readonly Remedy[] = [
    {
      text: `To keep the document in ${where}, delete the object with the same name`,
      snippet: kubectl(namespace, 'delete', OBJECTS_PATH, name),
    },
    { text: `To keep the object, remove ${namespace}/${name} from ${where}`, snippet: null },
  ];
  const ofTwo = unused === undefined ? [] : choice;
  if (own === undefined && unused !== undefined) return ofTwo;
  if (own?.code === 'duplicate-document')
    return [{ text: 'Delete one of the documents with this name', snippet: null }, ...ofTwo];
  if (own === undefined || isOfObject(own)) {
    const snippet = kubectl(namespace, 'edit', OBJECTS_PATH, name);
    return [{ text: 'Correct the document, and apply it again', snippet }];
  }
  const line = own.line === null ? '' : `, line ${own.line}`;
  const snippet = command(`promscaler validate ${quoteForShell(own.file ?? '')}`);
  return [{ text: `Correct ${own.file ?? ''}${line}, and validate it`, snippet }, ...ofTwo];
}

function findWorkload(scaler: TroubledScaler): readonly Remedy[] {
  const { target, targetFailure } = scaler;
  const { absence = null, suggestion = null, unusableKind = null } = targetFailure ?? {};
  if (unusableKind !== null) return [fixForKind(unusableKind)];
  const ref = {
    ...(suggestion?.kind == null ? {} : { kind: suggestion.kind }),
    ...(suggestion === null || suggestion.name === target.name ? {} : { name: suggestion.name }),
  };
  const kind = target.kind.toLowerCase();
  // The document may name the wrong one of the two kinds.
  const isApps = kind === 'deployment' || kind === 'statefulset';
  const text = `Correct the ${Object.keys(ref).join(' and ')} of the target`;
  const create = `Create the ${target.kind} ${target.name}`;
  const wanted =
    absence === 'deleted'
      ? { text: `${create} again`, snippet: null }
      : {
          text: `${create}, or correct spec.scaleTargetRef or the namespace`,
          snippet: command(`kubectl get -A ${isApps ? 'deployment,statefulset' : quoteForShell(kind)}`),
        };
  if (suggestion !== null)
    return [patch(scaler, text, { scaleTargetRef: ref }, correctedTarget(ref)), wanted];
  if (absence === null) return [wanted];
  return [wanted, deleteThis(scaler, 'If the workload is no longer needed')];
}

/** Returns the field of `spec.scaleTargetRef` to set, or both fields. */
export function correctedTarget({
  kind,
  name,
}: {
  readonly kind?: string | undefined;
  readonly name?: string | undefined;
}): string {
  if (kind !== undefined && name !== undefined)
    return `spec.scaleTargetRef: { kind: ${kind}, name: ${name} }`;
  return kind === undefined ? `spec.scaleTargetRef.name: ${name ?? ''}` : `spec.scaleTargetRef.kind: ${kind}`;
}

function endPause(scaler: TroubledScaler): readonly Remedy[] {
  const { pause, namespace, targetFailure } = scaler;
  if (pause === null)
    return [
      {
        text: 'Resume the rollout of the target',
        snippet: kubectl(namespace, 'rollout', 'resume', targetOf(scaler)),
      },
    ];
  return [
    ...(pause.by === 'document' ? [] : [{ text: 'End the pause', snippet: resume(scaler) }]),
    ...(pause.by === 'annotation' ? [] : [patch(scaler, 'End the pause of the document', { paused: false })]),
    ...(targetFailure?.absence != null ? findWorkload(scaler) : scaler.dryRun ? endDryRun(scaler) : []),
  ];
}

/** Only a person knows whether no series means that there is no work, or that the query is wrong. */
function findSeries(scaler: TroubledScaler): readonly Remedy[] {
  const text =
    'If no series means that there is no work, no action is needed. A query that returns 0 instead ends this state';
  return [...findData(scaler), ...startFromZero(scaler), { text, snippet: null }];
}

/** Only `doctor` knows what exposed the metric, because it reads the series of the last day. */
function startFromZero(scaler: TroubledScaler): readonly Remedy[] {
  const { currentReplicas, recommendedReplicas, metrics } = scaler;
  const isMissing = metrics.every(
    ({ error, readAsZero }) => (recommendedReplicas === null ? error : readAsZero) === 'no series',
  );
  const isOfDocument = valueAt(scaler.document, ['spec', 'minReplicas']) === 0;
  if (currentReplicas !== 0 || !isMissing || !isOfDocument) return [];
  return [
    patch(scaler, 'If only the pods of the workload expose the metric, keep 1 replica', { minReplicas: 1 }),
    { text: `To scale to 0 again, query ${OTHER_WORK}`, snippet: null },
  ];
}

/** No command adds nodes, so the first command lists the existing nodes. */
function startPods(scaler: TroubledScaler): readonly Remedy[] {
  const { namespace, conditions } = scaler;
  const events = (...selector: readonly string[]) =>
    kubectl(namespace, 'get', 'events', ...selector, '--sort-by=.lastTimestamp');
  const unscheduled = conditions.find(({ reason }) => reason === 'Unschedulable');
  if (unscheduled === undefined)
    return [
      { text: 'Find out why the pods do not run', snippet: events() },
      {
        text: 'Check the progress of the rollout, and what it waits for',
        snippet: kubectl(namespace, 'describe', targetOf(scaler)),
      },
    ];
  const why = events('--field-selector=reason=FailedScheduling');
  const findWhy = { text: 'Find out why no node fits the pods', snippet: why };
  const edit = kubectl(namespace, 'edit', targetOf(scaler));
  const resource = LACKING.exec(unscheduled.message)?.[1];
  if (resource === undefined)
    return [
      findWhy,
      { text: 'Correct the node selector, tolerations or volumes of the pods', snippet: edit },
    ];
  const check = `Add a node with enough ${resource}, unless one is NotReady or cordoned (then kubectl uncordon NODE). To see the nodes`;
  const lower = `If no node can be added, lower the ${resource} requests of the pods, which restarts the pods`;
  return [{ text: check, snippet: command('kubectl get nodes') }, { text: lower, snippet: edit }, findWhy];
}

/** Matches the first resource that no node has enough of, in a message of `TargetReached`. */
const LACKING = /unschedulable because of (cpu|memory|ephemeral-storage|[\w.-]+\/[\w.-]+)/;

/** A schedule can set the maximum in effect. The text therefore says which maximum to raise. */
function raiseMaximum(scaler: TroubledScaler): readonly Remedy[] {
  const { maxReplicas, desiredReplicas, recommendedReplicas, generation } = scaler;
  const own = valueAt(scaler.document, ['spec', 'maxReplicas']);
  if (maxReplicas === null || recommendedReplicas === null) return [explain(scaler)];
  const raise = (what: string): string =>
    `Raise ${what}: ${countAre(recommendedReplicas, 'replica')} recommended`;
  const query = queryAt(scaler, 'spec.maxReplicasFrom');
  if (query !== null && desiredReplicas !== null && desiredReplicas < maxReplicas)
    return [{ text: raise('the value of spec.maxReplicasFrom'), snippet: query }];
  const stabilized = stabilizedReplicas(scaler, recommendedReplicas, maxReplicas);
  const needed = stabilized ?? recommendedReplicas;
  const meanwhile = keepRecommended(scaler, needed, maxReplicas);
  if (own !== maxReplicas)
    return [meanwhile, { text: `In the schedule, raise the maximum of ${maxReplicas}`, snippet: null }];
  const isObject = generation !== null;
  const canSetNow = hasAnnotations(scaler) && !isObject;
  if (recommendedReplicas > FAR * maxReplicas) {
    const text = `Check the metrics: ${countAre(recommendedReplicas, 'replica')} recommended, more than ${FAR} times the maximum`;
    return [...(canSetNow ? [meanwhile] : []), { text, snippet: doctor(scaler) }];
  }
  const ofWindow =
    stabilized === null
      ? ''
      : `: ${countAre(recommendedReplicas, 'replica')} recommended now, ${stabilized} in the stabilization window`;
  const now = stabilized === null ? raise('spec.maxReplicas') : `Raise spec.maxReplicas to ${needed}`;
  const why = canSetNow ? 'Raise spec.maxReplicas before the pause ends' : now;
  const text = needed > 2 * maxReplicas ? `If the metric is right, raise spec.maxReplicas to ${needed}` : why;
  const raised = patch(scaler, `${text}${ofWindow}`, { maxReplicas: needed });
  return isObject ? [raised] : [meanwhile, raised];
}

/**
 * Returns the count of the stabilization window if it is above the present recommendation, which a varying load soon
 * exceeds again; null: it is not, or so large that it is probably wrong.
 */
function stabilizedReplicas(
  { decision }: TroubledScaler,
  recommended: number,
  maximum: number,
): number | null {
  const to = decision?.limits.find(({ limit }) => limit === 'stabilization')?.to;
  return to === undefined || to <= recommended || to > FAR * maximum ? null : to;
}

/** A recommendation of more than this many times the maximum is more likely wrong than right. */
const FAR = 10;

/** `field`: the rules of a direction whose `selectPolicy` is Disabled, such as `behavior.scaleDown`. */
function enableChange(scaler: TroubledScaler, field: string): Remedy {
  const direction = field === 'behavior.scaleUp' ? 'scaleUp' : 'scaleDown';
  const text = `Allow ${direction === 'scaleUp' ? 'scale-ups' : 'scale-downs'}`;
  const spec = { behavior: { [direction]: { selectPolicy: 'Max' } } };
  return patch(scaler, text, spec, `spec.${field}.selectPolicy: Max`);
}

/** Sets at most twice the maximum, because a pause sets the count at once, without the scale-up limits. */
function keepRecommended(scaler: TroubledScaler, needed: number, maximum: number): Remedy {
  if (!hasAnnotations(scaler)) return explain(scaler);
  const replicas = Math.min(needed, 2 * maximum);
  const bound = replicas === needed ? `then at most ${maximum} again` : 'which is twice the maximum';
  return {
    text: `Set ${countOf(replicas, 'replica')} ${pauseLength(scaler)}, ${bound} (pauses scaling)`,
    snippet: pauseFor30Minutes(scaler, replicas),
  };
}

/**
 * Returns how to end a stabilization window with a recommendation so large that it probably came from a wrong value.
 */
function forgetWrongValue(scaler: TroubledScaler): readonly Remedy[] {
  const { decision, maxReplicas, recommendedReplicas: replicas } = scaler;
  const isFar =
    maxReplicas !== null &&
    decision?.limits.some(({ limit, to }) => limit === 'stabilization' && to > FAR * maxReplicas) === true;
  if (replicas === null || !isFar || !hasAnnotations(scaler)) return [];
  const text = `If the earlier recommendation was wrong, set ${countOf(replicas, 'replica')} ${pauseLength(scaler)} (pauses scaling)`;
  return [{ text, snippet: pauseFor30Minutes(scaler, replicas) }];
}

function explain(scaler: TroubledScaler): Remedy {
  return {
    text: 'Check what the metrics recommend',
    snippet: command(`promscaler explain ${keyOf(scaler)}`),
  };
}
