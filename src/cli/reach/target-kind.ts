import type { TargetRef } from '../../scaler/spec.js';
import { didYouMean } from '../../scaler/problems/nearest.js';
import type { CommandError } from '../output/io.js';
import { usageError } from '../output/io.js';

interface UnknownKind {
  /** The kind as the user wrote it: `rollout`, `rollouts`, `Rollout`, or a short name. */
  readonly word: string;
  readonly group: string;
  readonly version: string | null;
}

/** `ref`: null if the kind is not built in and must be looked up in the cluster. */
export type ParsedTarget =
  | { readonly name: string; readonly ref: TargetRef; readonly unknown: null }
  | { readonly name: string; readonly ref: null; readonly unknown: UnknownKind };

interface KnownKind {
  readonly kind: string;
  readonly apiVersion: string;
  /** The plural, singular and short names that kubectl accepts, in lower case. */
  readonly words: readonly string[];
}

const KNOWN_KINDS: readonly KnownKind[] = [
  { kind: 'Deployment', apiVersion: 'apps/v1', words: ['deployment', 'deployments', 'deploy'] },
  { kind: 'StatefulSet', apiVersion: 'apps/v1', words: ['statefulset', 'statefulsets', 'sts'] },
  { kind: 'ReplicaSet', apiVersion: 'apps/v1', words: ['replicaset', 'replicasets', 'rs'] },
  {
    kind: 'ReplicationController',
    apiVersion: 'v1',
    words: ['replicationcontroller', 'replicationcontrollers', 'rc'],
  },
  { kind: 'Rollout', apiVersion: 'argoproj.io/v1alpha1', words: ['rollout', 'rollouts', 'ro'] },
];

const DAEMON_SET_WORDS = ['daemonset', 'daemonsets', 'ds'];
const VERSION = /^v\d+((?:alpha|beta)\d+)?$/;

/**
 * Parses `KIND/NAME` like kubectl: `deploy/web`, `statefulset.apps/db`, `rollout.v1alpha1.argoproj.io/x`. If there is
 * no kind, the target is a Deployment. Throws `CommandError` if the kind is unknown or cannot be scaled.
 */
export function readTarget(text: string): ParsedTarget {
  const [first = '', second, ...more] = text.split('/');
  const kind = second === undefined ? 'deployment' : first;
  const name = second ?? first;
  if (kind === '' || name === '' || more.length > 0)
    throw usageError(`the workload is "${text}", must be KIND/NAME, such as deployment/web`);
  const [word = '', ...rest] = kind.split('.');
  const version = VERSION.test(rest[0] ?? '') ? (rest[0] ?? null) : null;
  const group = rest.slice(version === null ? 0 : 1).join('.');
  const known = KNOWN_KINDS.find(({ words }) => words.includes(word.toLowerCase()));
  const isThatGroup = group === '' || group === known?.apiVersion.split('/')[0];
  if (known !== undefined && isThatGroup)
    return { name, ref: { apiVersion: known.apiVersion, kind: known.kind, name }, unknown: null };
  if (DAEMON_SET_WORDS.includes(word.toLowerCase()))
    throw usageError('a DaemonSet runs one pod per node and cannot be scaled');
  if (group === '') throw unknownKind(word);
  return { name, ref: null, unknown: { word, group, version } };
}

function unknownKind(word: string): CommandError {
  const kinds = KNOWN_KINDS.map((known) => known.kind).join(', ');
  const hint = didYouMean(
    word,
    KNOWN_KINDS.flatMap(({ words }) => words),
  );
  const message = `the kind is "${word}", must be one of ${kinds}, or include its API group, such as CloneSet.apps.kruise.io${hint}`;
  return usageError(message);
}

/**
 * Guesses the target if the kind was not found in a cluster but is written in CamelCase. A wrong version has no effect,
 * because kinds are found by their group. For other spellings, throws `CommandError`.
 */
export function guessTarget(name: string, { word, group, version }: UnknownKind, why: string): TargetRef {
  if (/^[A-Z]/.test(word)) return { apiVersion: `${group}/${version ?? 'v1'}`, kind: word, name };
  throw usageError(
    `the kind of "${word}.${group}" is not known: ${why}. Write the kind as in a manifest, such as CloneSet.apps.kruise.io`,
  );
}
