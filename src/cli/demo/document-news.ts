import { basename } from 'node:path';
import { OBJECTS_PATH } from '../../config/read-objects.js';
import { rejectionEffects, type LoadedScalers, type RejectionEffect } from '../../config/scaler-files.js';
import { scalerKey } from '../../scaler/spec.js';

export interface DocumentNews {
  /** `NAMESPACE/NAME`, or the file name if the file was never valid. */
  readonly subject: string;
  readonly text: string;
}

/** Returns the changes since the previous load; null: first load. */
export function documentNews(before: LoadedScalers | null, now: LoadedScalers): readonly DocumentNews[] {
  const [wasWrong, isWrong] = [errorsOf(before), errorsOf(now)];
  const refused = [...isWrong].flatMap(([subject, text]) =>
    wasWrong.get(subject) === text ? [] : [{ subject, text }],
  );
  if (before === null) return refused;
  const [old, present] = [byKey(before), byKey(now)];
  const fixed = [...wasWrong.keys()].flatMap((subject) =>
    isWrong.has(subject) ? [] : [{ subject, text: 'document is valid again' }],
  );
  const changed = [...present].flatMap(([subject, scaler]): readonly DocumentNews[] => {
    const earlier = old.get(subject);
    // An unchanged document is the same JavaScript object. Until the first complete list, no document is new.
    if (earlier === scaler || (earlier === undefined && !before.isComplete)) return [];
    const text = earlier === undefined ? 'document added' : 'document changed';
    return [{ subject, text }];
  });
  const gone = [...old.keys()].flatMap((subject) =>
    present.has(subject) ? [] : [{ subject, text: 'document deleted: the replicas stay as they are' }],
  );
  return [...refused, ...fixed, ...changed, ...gone];
}

function byKey({ scalers }: LoadedScalers): ReadonlyMap<string, unknown> {
  return new Map(scalers.map((scaler) => [scalerKey(scaler), scaler]));
}

const EFFECTS: Readonly<Record<RejectionEffect, string>> = {
  'last-valid': 'the last valid one remains in effect',
  none: 'no valid version is in effect',
  file: 'the file with the same name is in effect',
  unknown: 'the last valid one, if any, remains in effect',
};

function errorsOf(loaded: LoadedScalers | null): ReadonlyMap<string, string> {
  const errors = new Map<string, string>();
  if (loaded === null) return errors;
  const effectOf = rejectionEffects(loaded);
  for (const problem of loaded.problems) {
    const { severity, file, place, message } = problem;
    const subject = subjectOf(file ?? '');
    if (severity !== 'error' || errors.has(subject)) continue;
    const where = place === null || subject.includes('/') ? '' : `line ${place.line}: `;
    errors.set(subject, `document rejected, ${EFFECTS[effectOf(problem)]}: ${where}${message}`);
  }
  return errors;
}

function subjectOf(file: string): string {
  return file.startsWith(`${OBJECTS_PATH}/`) ? file.slice(OBJECTS_PATH.length + 1) : basename(file);
}
