import { listSome } from '../units/format.js';
import { nearest } from './problems/nearest.js';
import {
  ADOPTED_AT,
  ADOPTED_FROM,
  ADOPTED_MANIFEST,
  IMPORTED_SPEC,
  PAUSE_ANNOTATIONS,
  type ScalerName,
} from './spec.js';

type Annotations = Readonly<Record<string, string>>;

const PREFIX = 'promscaler.dev/';

const PAUSES: ReadonlySet<string> = new Set(Object.values(PAUSE_ANNOTATIONS));
/** The service reads only `ADOPTED_FROM`. */
const UNREAD: ReadonlySet<string> = new Set([ADOPTED_AT, ADOPTED_MANIFEST, IMPORTED_SPEC]);
const ADOPTIONS: ReadonlySet<string> = new Set([ADOPTED_FROM, ...UNREAD]);

/**
 * Prefix of the pause annotations of a KEDA ScaledObject. Users of KEDA expect that a Scaler has the same annotations.
 */
const KEDA_PAUSE = 'autoscaling.keda.sh/paused';

/**
 * Returns whether an annotation of a Scaler object is meant for promscaler, without those that only `adopt` reads.
 */
export function isOfScaler(key: string): boolean {
  return (key.startsWith(PREFIX) && !UNREAD.has(key)) || key.startsWith(KEDA_PAUSE);
}

export function isOfTarget(key: string): boolean {
  return key.startsWith(PREFIX);
}

/**
 * Returns the annotations of a document that are meant for promscaler but have no effect on a document, with advice.
 */
export function ignoredOfDocument(
  annotations: Annotations | undefined,
  { namespace, name }: ScalerName,
): readonly IgnoredAnnotation[] {
  if (annotations === undefined) return NONE;
  const keys = Object.keys(annotations).filter((key) => isOfScaler(key) && !ADOPTIONS.has(key));
  return keys.map((key) => ({
    key,
    advice: /pause/i.test(key)
      ? `promscaler reads a pause only from annotations of the workload. To pause the workload: promscaler pause ${namespace}/${name}`
      : 'unknown annotation',
  }));
}

/** Returns the annotations of a target that are meant for promscaler but have no effect on a target, with advice. */
export function ignoredOfTarget(
  annotations: Annotations,
  { namespace, name }: ScalerName,
): readonly IgnoredAnnotation[] {
  const keys = Object.keys(annotations);
  if (keys.length === 0) return NONE;
  const command = `promscaler pause ${namespace}/${name}`;
  return keys.filter(isOfTarget).flatMap((key): readonly IgnoredAnnotation[] => {
    if (key === PAUSE_ANNOTATIONS.reason && !keys.some((one) => one !== key && PAUSES.has(one)))
      return [
        {
          key,
          advice: `the annotation ${PAUSE_ANNOTATIONS.paused} is missing. To pause: ${command}`,
        },
      ];
    if (PAUSES.has(key)) return [];
    const guess = nearest(key.slice(PREFIX.length), PAUSE_NAMES);
    return [
      {
        key,
        advice:
          guess === null ? 'unknown annotation' : `did you mean ${PREFIX}${guess}? To pause: ${command}`,
      },
    ];
  });
}

export interface IgnoredAnnotation {
  readonly key: string;
  /** Why the annotation has no effect, and what to do instead. */
  readonly advice: string;
}

const NONE: readonly IgnoredAnnotation[] = [];
const PAUSE_NAMES = [...PAUSES].map((key) => key.slice(PREFIX.length));

const MOST_NAMED = 3;

/**
 * Returns a sentence about the annotations of one object that have no effect, with the advice for the first one; null:
 * there are none. The condition `Held` contains this sentence. `ignoredAnnotations` finds the part before the colon.
 */
export function ignoredSentence(ignored: readonly IgnoredAnnotation[], object: string): string | null {
  const [first] = ignored;
  if (first === undefined) return null;
  const names = listSome(
    ignored.map(({ key }) => key),
    MOST_NAMED,
  );
  const subject = ignored.length === 1 ? `annotation ${names}` : `annotations ${names}`;
  return `${subject} of ${object} ${ignored.length === 1 ? 'has' : 'have'} no effect: ${first.advice}`;
}
