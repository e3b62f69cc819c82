import { PAUSE_ANNOTATIONS, readPause } from '../../control/change/pause.js';
import { nameTarget } from '../../kubernetes/targets.js';
import type { CommandIo, ExitCode } from '../io.js';
import { CommandError } from '../io.js';
import { readOutputFormat, writeStructured } from '../output-format.js';
import { NO_PAUSE, openAnnotations } from './annotations.js';
import { findTarget } from './find-target.js';
import type { PauseTarget } from './find-target.js';
import { readScalerName } from '../scaler-name.js';
import type { ResumeOptions } from './pause-options.js';

/** `resume NAMESPACE/NAME`: takes the annotations of a pause away, with the user's own rights. */
export async function runResume(options: ResumeOptions, io: CommandIo): Promise<ExitCode> {
  const format = readOutputFormat(options.output, ['text', 'json', 'yaml', 'name']);
  const name = await readScalerName(options.scaler, options, io);
  const key = `${name.namespace}/${name.name}`;
  const target = await findTarget(name, options, io);
  const found = await takeAway(target, options, io);
  const isByDocument = target.told?.isPausedByDocument === true;
  if (!found.isAnnotated && isByDocument) throw new CommandError(`${key} is ${BY_DOCUMENT}`);
  const json = { ...name, target: target.ref, wasPaused: found.isPaused, pause: null };
  if (format === 'json' || format === 'yaml') io.stdout.write(writeStructured(format, json));
  else io.stdout.write(`${format === 'name' ? key : resumeText(key, target, found)}\n`);
  if (isByDocument) io.stderr.write(`promscaler: ${key} is still ${BY_DOCUMENT}\n`);
  return 0;
}

const BY_DOCUMENT = 'paused by its document: change spec.paused there';

interface Found {
  /** Whether there was anything to take away. */
  readonly isAnnotated: boolean;
  /** Whether that was a pause in force. */
  readonly isPaused: boolean;
}

async function takeAway(target: PauseTarget, options: ResumeOptions, io: CommandIo): Promise<Found> {
  const annotations = await openAnnotations(target, options, io);
  try {
    const present = await annotations.read();
    const isAnnotated = Object.values(PAUSE_ANNOTATIONS).some((name) => Object.hasOwn(present, name));
    if (isAnnotated) await annotations.write(NO_PAUSE);
    return { isAnnotated, isPaused: readPause({ paused: false }, present, io.clock.now()) !== null };
  } finally {
    annotations.close();
  }
}

function resumeText(key: string, target: PauseTarget, { isAnnotated, isPaused }: Found): string {
  const workload = nameTarget(target.namespace, target.ref);
  if (!isAnnotated) return `${key} is not paused: ${workload} has no such annotation`;
  if (!isPaused) return `${key} was not paused any more; the annotations of ${workload} are taken away`;
  return `${key} is resumed: the pause of ${workload} ends with the next decision`;
}
