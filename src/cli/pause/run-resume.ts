import { PAUSE_ANNOTATIONS, readPause } from '../../control/cycle/pause.js';
import { nameTarget } from '../../kubernetes/targets.js';
import type { CommandIo, ExitCode } from '../process/io.js';
import { CommandError } from '../process/io.js';
import { readOutputFormat, writeStructured } from '../output/output-format.js';
import { NO_PAUSE, openAnnotations } from './annotations.js';
import { findTarget } from './find-target.js';
import type { PauseTarget } from './find-target.js';
import { readScalerName } from '../reach/scaler-name.js';
import type { ResumeOptions } from './pause-options.js';

/** Runs `resume`: removes the annotations of a pause, with the permissions of the user. */
export async function runResume(options: ResumeOptions, io: CommandIo): Promise<ExitCode> {
  const format = readOutputFormat(options.output, ['text', 'json', 'yaml', 'name']);
  const name = await readScalerName(options.scaler, options, io);
  const key = `${name.namespace}/${name.name}`;
  const target = await findTarget(name, options, io);
  const found = await removeAnnotations(target, options, io);
  const isByDocument = target.reported?.isPausedByDocument === true;
  if (!found.isAnnotated && isByDocument) throw new CommandError(`${key} is ${BY_DOCUMENT}`);
  const json = { ...name, target: target.ref, wasPaused: found.isPaused, pause: null };
  if (format === 'json' || format === 'yaml') io.stdout.write(writeStructured(format, json));
  else io.stdout.write(`${format === 'name' ? key : resumeText(key, target, found)}\n`);
  if (isByDocument) io.stderr.write(`promscaler: warning: ${key} is still ${BY_DOCUMENT}\n`);
  return 0;
}

const BY_DOCUMENT = 'paused by its document. Change spec.paused there';

interface RemovedPause {
  readonly isAnnotated: boolean;
  readonly isPaused: boolean;
}

async function removeAnnotations(
  target: PauseTarget,
  options: ResumeOptions,
  io: CommandIo,
): Promise<RemovedPause> {
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

function resumeText(key: string, target: PauseTarget, { isAnnotated, isPaused }: RemovedPause): string {
  const workload = nameTarget(target.namespace, target.ref);
  if (!isAnnotated) return `${key} is not paused: ${workload} has no annotations of a pause`;
  if (!isPaused) return `the pause of ${key} had already ended; removed its annotations from ${workload}`;
  return `${key} is resumed: ${workload} is scaled again from the next decision on`;
}
