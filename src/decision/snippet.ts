import { OBJECTS_PATH } from '../scaler/problems/problem.js';
import { isWatched, PAUSE_ANNOTATIONS, type ScalerName } from '../scaler/spec.js';
import { quoteForShell } from '../units/clean-text.js';
import type { TargetFailure } from './failing.js';
import type { OtherAutoscaler } from './pause.js';
import { isUnusedObject } from './rejection.js';
import type { StateName } from './severity.js';
import { countOf } from '../units/format.js';

/** Text to copy: a shell command, a line of the document, or a query. */
export interface Snippet {
  readonly kind: 'command' | 'edit' | 'query';
  readonly text: string;
  /** A link to the query in the UI of Prometheus; unset: unknown. */
  readonly graphUrl?: string;
}

export interface Pausable extends ScalerName {
  /** `apiVersion` unset: a version of `apps`. */
  readonly target: { readonly apiVersion?: string; readonly kind: string; readonly name: string };
  /**
   * The end of a pause of 30 minutes that would begin now; set by the dashboard. Commands for a pause then use plain
   * kubectl, because the reader may not have the plugin. The time has the UTC offset of the reader: a time in UTC could
   * look like a time in the past.
   */
  readonly pauseUntil?: string | undefined;
}

export interface Remedy {
  /** What to do, as an imperative. */
  readonly text: string;
  readonly snippet: Snippet | null;
}

/** The facts from a response of the API that remedies need. */
export interface TroubledScaler extends Pausable {
  readonly state: { readonly name: StateName; readonly cause: string | null };
  /** The count that the decision has read, before its change. */
  readonly currentReplicas: number | null;
  readonly desiredReplicas: number | null;
  /** The outcome of the decision. `to`: the count after it. */
  readonly outcome: { readonly kind: string; readonly to: number | null };
  readonly recommendedReplicas: number | null;
  readonly maxReplicas: number | null;
  /** Null: there was no decision. Unset: unknown. */
  readonly decision?:
    | { readonly limits: readonly { readonly limit: string; readonly to: number; readonly reason: string }[] }
    | null
    | undefined;
  readonly metrics: readonly {
    readonly metric: string;
    readonly error: string | null;
    /** The reason of `error`; unset: there is none, or it is unknown. */
    readonly errorReason?: string | undefined;
    /** The server that did not answer the query, and whether it may be down; unset: the query was answered. */
    readonly noAnswer?: { readonly host: string | null; readonly isDown: boolean } | undefined;
    /** Why the metric has no value, which the document reads as 0. */
    readonly readAsZero?: string | undefined;
  }[];
  readonly conditions: readonly Readonly<Record<'type' | 'status' | 'reason' | 'message', string>>[];
  /** Unset: the target was read. */
  readonly targetFailure?: TargetFailure | undefined;
  readonly pause: { readonly by: 'annotation' | 'document' | 'both' } | null;
  readonly dryRun: boolean;
  readonly conflictingWriter: { readonly managers: readonly string[] } | null;
  readonly otherScaler:
    | (OtherAutoscaler & {
        /** File of the other document. Null: it is an object. Unset: unknown. */
        readonly file?: string | null | undefined;
        /** Whether the file takes precedence over an object with the same name. */
        readonly isAlsoObject?: boolean | undefined;
        readonly scaler?: (ScalerName & { readonly file?: string | null | undefined }) | undefined;
      })
    | null;
  /** Null: the document is a file. */
  readonly generation: number | null;
  /** File of the document. Null: it is an object, or the file is unknown. */
  readonly file?: string | null | undefined;
  /** The command that runs `doctor` for this scaler where the service runs; unset: unknown. */
  readonly doctor?: string | undefined;
  /** The queries as they are sent, with their path in the document; unset: unknown. */
  readonly queries?:
    | readonly { readonly path: string; readonly query: string; readonly graphUrl: string | null }[]
    | undefined;
  readonly rejections: readonly {
    readonly code: string;
    readonly file: string | null;
    readonly line: number | null;
  }[];
  readonly document: Readonly<Record<string, unknown>>;
}

/** Returns `NAMESPACE/NAME`, quoted for a shell. */
export function keyOf({ namespace, name }: ScalerName): string {
  return quoteForShell(`${namespace}/${name}`);
}

export function patchObject(named: ScalerName, spec: Readonly<Record<string, unknown>>): Snippet {
  return command(patchCommand(named, JSON.stringify({ spec })));
}

/** Returns the command that applies a JSON merge patch to a Scaler object. */
export function patchCommand({ namespace, name }: ScalerName, patch: string): string {
  return kubectl(namespace, 'patch', OBJECTS_PATH, name, '--type=merge', '-p', patch).text;
}

export function kubectl(namespace: string, verb: string, ...words: readonly string[]): Snippet {
  return command(['kubectl', verb, '-n', namespace, ...words].map(quoteForShell).join(' '));
}

/**
 * Returns the command that starts a target that another client has set to 0 replicas. `resource`: the target for
 * kubectl.
 */
export function start(namespace: string, resource: string, minReplicas: unknown): Snippet {
  return kubectl(namespace, 'scale', resource, replicasToStart(minReplicas));
}

/**
 * Returns the option of `kubectl scale` that starts a target: with `minReplicas`, or with 1 if `minReplicas` is 0 or
 * unset.
 */
export function replicasToStart(minReplicas: unknown): string {
  return `--replicas=${typeof minReplicas === 'number' ? Math.max(1, minReplicas) : 1}`;
}

export function command(text: string): Snippet {
  return { kind: 'command', text };
}

/**
 * Returns whether promscaler reads annotations of the target. Targets of other kinds, such as a StatefulSet of
 * `apps.kruise.io`, can be paused only in the document.
 */
export function hasAnnotations({ target }: Pick<Pausable, 'target'>): boolean {
  return isWatched({ apiVersion: target.apiVersion ?? 'apps/v1', kind: target.kind });
}

/** Returns the length of a pause in words: `until 20:24` in the time zone of the reader, or `for 30 minutes`. */
export function pauseLength({ pauseUntil }: Pausable): string {
  return pauseUntil === undefined ? 'for 30 minutes' : `until ${pauseUntil.slice(11, 16)}`;
}

/**
 * Returns the command for a pause; `replicas` null: the count stays as it is. The command replaces the annotations of
 * an earlier pause.
 */
export function pauseFor30Minutes(scaler: Pausable, replicas: number | null): Snippet {
  const { pauseUntil } = scaler;
  const count = replicas === null ? '' : ` --replicas ${replicas}`;
  if (pauseUntil === undefined) return command(`promscaler pause ${keyOf(scaler)}${count} --for 30m`);
  return pauseWithKubectl(scaler, { replicas, until: pauseUntil, reason: 'dashboard' });
}

interface KubectlPause {
  /** The fixed count; null: its annotation is removed. */
  readonly replicas?: number | null;
  readonly until?: string;
  readonly reason?: string;
}

/**
 * Returns the kubectl command for a pause. It removes the annotations that it does not set: a `paused-until` in the
 * past would make the pause ineffective, and an old `paused-replicas` would set the count.
 */
export function pauseWithKubectl(scaler: Pausable, pause: KubectlPause): Snippet {
  return annotate(scaler, { paused: 'true', ...pause });
}

/** Returns the command that ends a pause, and removes its annotations. */
export function resume(scaler: Pausable): Snippet {
  return scaler.pauseUntil === undefined
    ? command(`promscaler resume ${keyOf(scaler)}`)
    : annotate(scaler, {});
}

function annotate(scaler: Pausable, values: KubectlPause & { readonly paused?: string }): Snippet {
  const { paused, replicas, until, reason } = PAUSE_ANNOTATIONS;
  const write = (key: string, value: string | number | null = null): string =>
    value === null ? `${key}-` : `${key}=${value}`;
  return kubectl(
    scaler.namespace,
    'annotate',
    targetOf(scaler),
    '--overwrite',
    write(paused, values.paused),
    write(replicas, values.replicas),
    write(until, values.until),
    write(reason, values.reason),
  );
}

const EXAMPLES: Readonly<Record<string, string>> = { cpu: '250m', memory: '256Mi' };

/** Returns an example of a request that fits many workloads. */
export function exampleRequest(resource: string): string {
  return EXAMPLES[resource] ?? '1';
}

/** Returns the command that sets an example of a request. */
export function setRequests(
  { namespace, target }: Pick<Pausable, 'namespace' | 'target'>,
  resource: string,
  containers: readonly string[],
): Snippet {
  return command(
    `kubectl set resources ${targetOf({ target })} -n ${namespace} -c ${containers.join(',')} --requests=${resource}=${exampleRequest(resource)}`,
  );
}

/**
 * Returns the additional step for a container with a request of 0: the API server rejects a request above the limit.
 */
export function raiseLimit(resource: string): string {
  return `if the ${resource} limit is also 0, add --limits=${resource}=QUANTITY with at least the request`;
}

/** Returns the target for kubectl: `deployment/web`. */
export function targetOf({ target }: Pick<Pausable, 'target'>): string {
  return `${target.kind.toLowerCase()}/${target.name}`;
}

const ADOPTED: Readonly<Record<string, string>> = {
  HorizontalPodAutoscaler: 'hpa',
  ScaledObject: 'scaledobject',
};

/** Returns the `adopt` command for one step of the hand-over; null: `adopt` does not accept this kind of autoscaler. */
export function adoptCommand(
  { kind, namespace, name }: ScalerName & { readonly kind: string },
  flag: string,
): Snippet | null {
  const resource = ADOPTED[kind];
  if (resource === undefined) return null;
  return command(`promscaler adopt ${quoteForShell(`${resource}/${name}`)} -n ${namespace} ${flag}`);
}

/** Returns a step in one line, as `doctor` prints it: `Run doctor: promscaler doctor`. */
export function remedyText({ text, snippet }: Remedy): string {
  return snippet === null ? text : `${text}: ${snippet.text}`;
}

const KIND_FIELDS = 'apiVersion and kind of spec.scaleTargetRef to';

/**
 * Returns what to do about a kind that cannot be a target: the cluster does not serve the kind, or the kind has no
 * scale subresource.
 */
export function fixForKind({ group, isGroupServed }: NonNullable<TargetFailure['unusableKind']>): Remedy {
  // The name of the group of a CRD has a dot, so no CRD can add a kind to a group such as `batch`.
  if (group?.includes('.') !== true)
    return {
      text: `Set ${KIND_FIELDS} those of a workload that has replicas, such as a Deployment or StatefulSet (apps/v1)`,
      snippet: command('kubectl get -A deployment,statefulset'),
    };
  return {
    text: isGroupServed
      ? `Set ${KIND_FIELDS} those of a workload of the API group ${group}, or of another API group`
      : `Install the CRDs of ${group}, or set ${KIND_FIELDS} those of the workload`,
    snippet: command(`kubectl api-resources${isGroupServed ? ` --api-group=${quoteForShell(group)}` : ''}`),
  };
}

/**
 * Returns the patch command for an object. For a file, returns the line to edit, which is by default the first field of
 * `spec`.
 */
export function patch(
  scaler: TroubledScaler,
  text: string,
  spec: Readonly<Record<string, unknown>>,
  edit = Object.entries(spec).map(([field, value]) => `${field}: ${String(value)}`)[0] ?? '',
): Remedy {
  const { namespace, name, file = null, generation } = scaler;
  // A patch would change the rejected version, not the one in effect, so there is no command.
  if (generation !== null && !scaler.rejections.every(isUnusedObject))
    return { text: `${text}, in the corrected document`, snippet: null };
  if (generation !== null) return { text, snippet: patchObject(scaler, spec) };
  const where = file === null ? `the file of ${namespace}/${name}` : (file.split('/').at(-1) ?? file);
  return { text: `${text}. In ${where}, set`, snippet: { kind: 'edit', text: edit } };
}

/**
 * Returns how to keep the replicas. `when`: such as `If a pause was meant`. Unset: the text is about the time until the
 * problem is solved.
 */
export function keepReplicas(scaler: TroubledScaler, when?: string): readonly Remedy[] {
  const { currentReplicas, outcome } = scaler;
  const isChanged = outcome.kind === 'patched' || outcome.kind === 'replaced';
  const count = isChanged ? outcome.to : currentReplicas;
  const kept = count === null ? 'the replicas' : countOf(count, 'replica');
  return pauseNow(scaler, (length) =>
    when === undefined ? `Keep ${kept}${length} meanwhile` : `${when}, keep ${kept}${length}`,
  );
}

/** Returns how to stop scaling while two clients change the replicas, because it is unknown which count would stay. */
export function stopScaling(scaler: TroubledScaler): readonly Remedy[] {
  return pauseNow(scaler, (length) => `Stop scaling${length} meanwhile`);
}

function pauseNow(scaler: TroubledScaler, text: (length: string) => string): readonly Remedy[] {
  if (!hasAnnotations(scaler)) return [patch(scaler, text(''), { paused: true })];
  return [{ text: text(` ${pauseLength(scaler)}`), snippet: pauseFor30Minutes(scaler, null) }];
}
