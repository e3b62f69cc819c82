import { basename } from 'node:path';
import { OBJECTS_PATH } from '../../config/read-objects.js';
import type { LoadedScalers } from '../../config/scaler-files.js';
import type { Problem } from '../../scaler/problems/problem.js';
import { scalerKey } from '../../scaler/spec.js';

export interface DocumentNews {
  /** `NAMESPACE/NAME`, or the file name if the file was never valid. */
  readonly subject: string;
  readonly text: string;
}

/** Returns the changes since the previous load; null: first load. */
export function documentNews(before: LoadedScalers | null, now: LoadedScalers): readonly DocumentNews[] {
  const [wasWrong, isWrong] = [errorsOf(before?.problems ?? []), errorsOf(now.problems)];
  const refused = [...isWrong].flatMap(([subject, text]) =>
    wasWrong.get(subject) === text
      ? []
      : [{ subject, text: `document rejected, the last valid one remains in effect: ${text}` }],
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

function errorsOf(problems: readonly Problem[]): ReadonlyMap<string, string> {
  const errors = new Map<string, string>();
  for (const { severity, file, place, message } of problems) {
    const subject = subjectOf(file ?? '');
    if (severity !== 'error' || errors.has(subject)) continue;
    const where = place === null || subject.includes('/') ? '' : `line ${place.line}: `;
    errors.set(subject, `${where}${message}`);
  }
  return errors;
}

function subjectOf(file: string): string {
  return file.startsWith(`${OBJECTS_PATH}/`) ? file.slice(OBJECTS_PATH.length + 1) : basename(file);
}
