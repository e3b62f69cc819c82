import { basename } from 'node:path';
import { OBJECTS_PATH } from '../../config/read-objects.js';
import type { LoadedScalers } from '../../config/scaler-files.js';
import type { Problem } from '../../scaler/problems/problem.js';
import { scalerKey } from '../../scaler/spec.js';

/** A sentence about a document. */
export interface DocumentNews {
  /** `NAMESPACE/NAME`, or the file where it cannot be read so far. */
  readonly subject: string;
  readonly text: string;
}

/** What a reading of the documents has found new. `before`: the last reading; null: this is the first one. */
export function documentNews(before: LoadedScalers | null, now: LoadedScalers): readonly DocumentNews[] {
  const [wasWrong, isWrong] = [errorsOf(before?.problems ?? []), errorsOf(now.problems)];
  const refused = [...isWrong].flatMap(([subject, text]) =>
    wasWrong.get(subject) === text
      ? []
      : [{ subject, text: `its document is refused, the last good one stays in force: ${text}` }],
  );
  if (before === null) return refused;
  const [old, present] = [byKey(before), byKey(now)];
  const fixed = [...wasWrong.keys()].flatMap((subject) =>
    isWrong.has(subject) ? [] : [{ subject, text: 'its document is no longer refused' }],
  );
  const changed = [...present].flatMap(([subject, scaler]): readonly DocumentNews[] => {
    const earlier = old.get(subject);
    // A document that did not change stays the same object. What was there before all were listed is not new.
    if (earlier === scaler || (earlier === undefined && !before.isComplete)) return [];
    const text =
      earlier === undefined
        ? 'is new, and is scaled from now on'
        : 'its document has changed, and is in force';
    return [{ subject, text }];
  });
  const gone = [...old.keys()].flatMap((subject) =>
    present.has(subject)
      ? []
      : [{ subject, text: 'its document is deleted: it keeps its replicas and is no longer scaled' }],
  );
  return [...refused, ...fixed, ...changed, ...gone];
}

function byKey({ scalers }: LoadedScalers): ReadonlyMap<string, unknown> {
  return new Map(scalers.map((scaler) => [scalerKey(scaler), scaler]));
}

/** The first error of each document. */
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

/** Of an object its key, of a file its name. */
function subjectOf(file: string): string {
  return file.startsWith(`${OBJECTS_PATH}/`) ? file.slice(OBJECTS_PATH.length + 1) : basename(file);
}
