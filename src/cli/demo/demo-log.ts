import { unreadTarget } from '../../decision/failing.js';
import { activeHold, conditionOf } from '../../decision/result/condition.js';
import { appendFileSync } from 'node:fs';
import { basename } from 'node:path';
import { type LoadedScalers, rejectionEffects, type RejectionEffect } from '../../config/scaler-files.js';
import type { CycleOutput } from '../../control/cycle/types.js';
import type { Decision } from '../../decision/result/decision.js';
import { cleanText } from '../../units/clean-text.js';
import { scalerKey } from '../../scaler/spec.js';
import { pauseMessage } from '../../decision/pause.js';
import { reasonOf, rescaleDirection, type CycleRecord } from '../../telemetry/cycle-record.js';
import { type Instant, secondsBetween } from '../../units/time.js';
import type { CommandIo, OutputStream } from '../output/io.js';
import { nameProgram } from '../output/lines.js';
import { paintOf } from '../output/paint.js';
import { isOfObject, OBJECTS_PATH } from '../../scaler/problems/problem.js';

export interface DemoLog {
  readonly printCycle: (output: CycleOutput) => void;
  /** Called after each load of the documents. */
  readonly printDocuments: (loaded: LoadedScalers) => void;
  /** Prints a line about something that is not a document. */
  readonly printNews: (subject: string, text: string) => void;
  readonly changes: () => number;
}

/**
 * Creates the log of the demo, whose lines start with the seconds since the start. It reports changes of replicas and
 * documents, pauses, other clients that write the replicas, and each new reason that prevents a change.
 */
export function createDemoLog(io: Pick<CommandIo, 'stdout' | 'env' | 'clock' | 'command'>): DemoLog {
  const { stdout, clock } = io;
  const start = clock.now();
  const colors = paintOf(io);
  const held = new Map<string, string>();
  const pauses = new Map<string, CycleRecord['pause']>();
  const conflicting = new Set<string>();
  let documents: LoadedScalers | null = null;
  let changes = 0;

  const line = (at: Instant, scaler: string, count: string, why: string): string => {
    const seconds = `+${Math.round(secondsBetween(start, at))} s`;
    return `${seconds.padStart(7)}  ${scaler.padEnd(14)}  ${count.padEnd(9)}  ${nameProgram(cleanText(why), io)}\n`;
  };

  const printPause = ({ scaler, pause, at }: CycleRecord): void => {
    const key = scalerKey(scaler);
    const before = pauses.get(key) ?? null;
    pauses.set(key, pause);
    const message = pause === null ? null : pauseMessage(pause);
    if (message === (before === null ? null : pauseMessage(before))) return;
    const hasEnded = before?.until !== null && before?.until !== undefined && before.until <= at;
    const news = message ?? (hasEnded ? 'pause ended' : 'resumed');
    stdout.write(colors.cyan(line(at, key, '', news)));
  };

  const printWriter = ({ scaler, conflictingWriter, at }: CycleRecord): void => {
    const key = scalerKey(scaler);
    if (conflictingWriter === undefined) conflicting.delete(key);
    else if (!conflicting.has(key)) {
      conflicting.add(key);
      stdout.write(colors.dim(line(at, key, '', `ConflictingWriter: ${conflictingWriter.message}`)));
    }
  };

  return {
    changes: () => changes,
    printNews: (subject, text) => {
      stdout.write(colors.cyan(line(clock.now(), subject, '', text)));
    },
    printDocuments: (loaded) => {
      const at = clock.now();
      for (const { subject, text } of documentNews(documents, loaded))
        stdout.write(colors.cyan(line(at, subject, '', text)));
      documents = loaded;
    },
    printCycle: ({ record }) => {
      const { scaler, decision, outcome, at } = record;
      const key = scalerKey(scaler);
      printPause(record);
      printWriter(record);
      const direction = decision === null ? null : rescaleDirection(outcome);
      if (decision !== null && direction !== null) {
        changes += 1;
        held.delete(key);
        const paint = direction === 'up' ? colors.green : colors.yellow;
        stdout.write(
          paint(line(at, key, `${outcome.from ?? '?'} -> ${outcome.to ?? '?'}`, reasonOf(record) ?? '')),
        );
        return;
      }
      const still =
        decision === null
          ? whyNone(record)
          : (whyHeld(record) ?? whyStill(decision, reasonOf(record) ?? decision.reason));
      if (still === null) held.delete(key);
      else if (held.get(key) !== still.why) {
        held.set(key, still.why);
        stdout.write(colors.dim(line(at, key, still.count, still.text)));
      }
    },
  };
}

interface Standstill {
  /** Identifies the reason. A line is printed only if this differs from the last line of the scaler. */
  readonly why: string;
  readonly count: string;
  readonly text: string;
}

/** Returns why decisions are not applied; null: they are applied, or a pause holds them, which has its own line. */
function whyHeld({ conditions, outcome }: CycleRecord): Standstill | null {
  const count = outcome.from === null ? '' : `= ${outcome.from}`;
  const held = activeHold(conditions);
  if (held !== undefined && held.reason !== 'Paused')
    return { why: held.reason, count, text: `${held.reason}: ${held.message}` };
  return outcome.kind === 'failed' ? { why: 'failed', count, text: outcome.message } : null;
}

/** Returns why the replicas do not follow the metrics; null: they follow the metrics. */
function whyStill({ limits, conditions, currentReplicas }: Decision, text: string): Standstill | null {
  const holding = limits.find(({ to }) => to === currentReplicas);
  const isBlind = conditionOf(conditions, 'ScalingActive')?.status === 'False';
  const why = holding?.limit ?? (isBlind ? 'no value' : null);
  return why === null ? null : { why, count: `= ${currentReplicas}`, text };
}

/** Returns why there was no decision; null: no condition explains it. */
function whyNone({ conditions }: CycleRecord): Standstill | null {
  const failed = unreadTarget(conditions);
  return failed === undefined ? null : { why: failed.reason, count: '', text: failed.message };
}

interface DocumentNews {
  /** `NAMESPACE/NAME`, or the name of a file that was never valid. */
  readonly subject: string;
  readonly text: string;
}

/** Returns what has changed since the previous load. `before`: null for the first load. */
function documentNews(before: LoadedScalers | null, now: LoadedScalers): readonly DocumentNews[] {
  const [wasWrong, isWrong] = [errorsOf(before), errorsOf(now)];
  const refused = [...isWrong].flatMap(([file, { text }]) =>
    wasWrong.get(file)?.text === text ? [] : [{ subject: subjectOf(file), text }],
  );
  if (before === null) return refused;
  const [old, present] = [byKey(before), byKey(now)];
  const fixed = [...wasWrong].flatMap(([file, { key }]): readonly DocumentNews[] => {
    if (isWrong.has(file)) return [];
    const subject = subjectOf(file);
    if (key !== undefined && now.files.get(key) === file)
      return [{ subject, text: 'document is valid again' }];
    // The file was deleted or now contains another document. If the scaler exists, another file contains it.
    if (key === undefined || present.has(key)) return [{ subject, text: 'document is no longer rejected' }];
    return old.has(key) ? [] : [{ subject, text: 'rejected document deleted' }];
  });
  const changed = [...present].flatMap(([subject, scaler]): readonly DocumentNews[] => {
    const earlier = old.get(subject);
    // An unchanged document is still the same object. After an incomplete load, no document counts as new.
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
  'last-valid': 'the last valid version remains in effect',
  none: 'no valid version is in effect',
  file: 'the file with the same name is in effect',
  unknown: 'the last valid version, if any, remains in effect',
};

interface Rejected {
  readonly text: string;
  /** `NAMESPACE/NAME`; undefined: the name cannot be read. */
  readonly key: string | undefined;
}

/** Returns the first error of each file or object. */
function errorsOf(loaded: LoadedScalers | null): ReadonlyMap<string, Rejected> {
  const errors = new Map<string, Rejected>();
  if (loaded === null) return errors;
  const effectOf = rejectionEffects(loaded);
  for (const problem of loaded.problems) {
    const { severity, place, message } = problem;
    const file = problem.file ?? '';
    if (severity !== 'error' || errors.has(file)) continue;
    const where = place === null || isOfObject(problem) ? '' : `line ${place.line}: `;
    errors.set(file, {
      text: `document rejected, ${EFFECTS[effectOf(problem)]}: ${where}${message}`,
      key: problem.scaler,
    });
  }
  return errors;
}

function subjectOf(file: string): string {
  return file.startsWith(`${OBJECTS_PATH}/`) ? file.slice(OBJECTS_PATH.length + 1) : basename(file);
}

/**
 * Returns standard error for the service. The log of the service goes to `file`; only its errors are also printed,
 * except those about rejected documents, which the demo log reports.
 */
export function withLogFile(stderr: OutputStream, file: string): OutputStream {
  return {
    ...stderr,
    write: (text) => {
      const [, level] = /^\d{4}-\S+Z (DEBUG|INFO|WARN|ERROR) /.exec(text) ?? [];
      if (level !== undefined) appendFileSync(file, text);
      if (level === undefined || (level === 'ERROR' && !text.includes(' document rejected')))
        stderr.write(text);
    },
  };
}
