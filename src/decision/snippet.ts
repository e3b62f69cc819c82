import { OBJECTS_PATH } from '../scaler/problems/problem.js';
import { PAUSE_ANNOTATIONS, WATCHED_KINDS } from '../scaler/spec.js';
import { quoteForShell } from '../units/clean-text.js';
import type { StateName } from './state.js';

/** Text to copy: a shell command, a line of the document, or a query. */
export interface Snippet {
  readonly kind: 'command' | 'edit' | 'query';
  readonly text: string;
  /** A link to the query in the UI of Prometheus; unset: unknown. */
  readonly graphUrl?: string;
}

export interface Named {
  readonly namespace: string;
  readonly name: string;
}

export interface Pausable extends Named {
  readonly target: { readonly kind: string; readonly name: string };
  /**
   * End of a pause of 30 minutes from now, set by the dashboard: pause commands then use plain kubectl, for readers who
   * may not have the plugin. In RFC 3339 with the offset of the reader: a time in UTC looks past next to a local clock.
   */
  readonly pauseUntil?: string | undefined;
}

export interface Remedy {
  /** What to do, as an imperative. */
  readonly text: string;
  readonly snippet: Snippet | null;
}

/** The facts of an answer of the API that a remedy needs. */
export interface TroubledScaler extends Pausable {
  readonly state: { readonly name: StateName; readonly cause: string | null };
  readonly currentReplicas: number | null;
  readonly desiredReplicas: number | null;
  readonly recommendedReplicas: number | null;
  readonly maxReplicas: number | null;
  readonly metrics: readonly { readonly metric: string; readonly error: string | null }[];
  readonly conditions: readonly Readonly<Record<'type' | 'status' | 'reason' | 'message', string>>[];
  readonly pause: { readonly by: 'annotation' | 'document' | 'both' } | null;
  readonly dryRun: boolean;
  readonly conflictingWriter: { readonly managers: readonly string[] } | null;
  readonly otherScaler: {
    readonly kind: string;
    readonly namespace: string;
    readonly name: string;
    /** File of the other document. Null: it is an object. Unset: unknown. */
    readonly file?: string | null | undefined;
    /** Whether the file takes precedence over an object with the same name. */
    readonly isAlsoObject?: boolean | undefined;
  } | null;
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
export function keyOf({ namespace, name }: Named): string {
  return quoteForShell(`${namespace}/${name}`);
}

export function patchObject(named: Named, spec: Readonly<Record<string, unknown>>): Snippet {
  return command(patchCommand(named, JSON.stringify({ spec })));
}

/** Returns the command that applies a JSON merge patch to a Scaler object. */
export function patchCommand({ namespace, name }: Named, patch: string): string {
  return kubectl(namespace, 'patch', OBJECTS_PATH, name, '--type=merge', '-p', patch).text;
}

export function kubectl(namespace: string, verb: string, ...words: readonly string[]): Snippet {
  return command(['kubectl', verb, '-n', namespace, ...words].map(quoteForShell).join(' '));
}

export function command(text: string): Snippet {
  return { kind: 'command', text };
}

/**
 * Returns whether promscaler reads annotations of the target. Targets of other kinds can be paused only in their
 * document.
 */
export function hasAnnotations({ target }: Pick<Pausable, 'target'>): boolean {
  return Object.hasOwn(WATCHED_KINDS, target.kind);
}

/** Returns `until 20:24`, in the time zone of the reader, or the duration that the command has. */
export function pauseLength({ pauseUntil }: Pausable): string {
  return pauseUntil === undefined ? 'for 30 minutes' : `until ${pauseUntil.slice(11, 16)}`;
}

/**
 * Returns the command for a pause; `replicas` null: the count stays as it is. The command also removes the annotations
 * of an earlier pause.
 */
export function pauseFor30Minutes(scaler: Pausable, replicas: number | null): Snippet {
  const { pauseUntil } = scaler;
  const count = replicas === null ? '' : ` --replicas ${replicas}`;
  if (pauseUntil === undefined) return command(`promscaler pause ${keyOf(scaler)}${count} --for 30m`);
  const { paused, until, replicas: fixed, reason } = PAUSE_ANNOTATIONS;
  const fix = replicas === null ? `${fixed}-` : `${fixed}=${replicas}`;
  return annotate(scaler, `${paused}=true`, fix, `${until}=${pauseUntil}`, `${reason}=dashboard`);
}

/**
 * Returns the command that ends a pause. The other annotations of the pause can stay, because they have no effect
 * without `paused`.
 */
export function resume(scaler: Pausable): Snippet {
  return scaler.pauseUntil === undefined
    ? command(`promscaler resume ${keyOf(scaler)}`)
    : annotate(scaler, `${PAUSE_ANNOTATIONS.paused}=false`);
}

function annotate(scaler: Pausable, ...annotations: readonly string[]): Snippet {
  return kubectl(scaler.namespace, 'annotate', targetOf(scaler), '--overwrite', ...annotations);
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
  { kind, namespace, name }: Named & { readonly kind: string },
  flag: string,
): Snippet | null {
  const resource = ADOPTED[kind];
  if (resource === undefined) return null;
  return command(`promscaler adopt ${quoteForShell(`${resource}/${name}`)} -n ${namespace} ${flag}`);
}
