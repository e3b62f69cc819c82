import { readPause } from '../../control/cycle/pause.js';
import { PAUSE_ANNOTATIONS } from '../../scaler/spec.js';
import { nameTarget } from '../../kubernetes/targets.js';
import { countOf, formatSeconds } from '../../units/format.js';
import { formatInstant, type Instant, instantOrNull, secondsBetween } from '../../units/time.js';
import { writeOptions } from '../output/lines.js';
import { readOutputFormat, writeStructured } from '../output/output-format.js';
import { type CommandIo, type ExitCode, CommandError } from '../output/io.js';
import { readScalerName } from '../reach/scaler-name.js';
import type { ScalerName } from '../reach/service-pages.js';
import { annotationsOf, openAnnotations, NO_PAUSE } from './annotations.js';
import { findTarget, type PauseTarget } from './find-target.js';
import {
  readPauseOptions,
  type PauseRequest,
  type PauseOptions,
  type ResumeOptions,
} from './pause-options.js';
import { localTimes } from '../output/lines.js';

/** Runs `pause`: annotates the target, with the permissions of the user. Replaces an earlier pause. */
export async function runPause(options: PauseOptions, io: CommandIo): Promise<ExitCode> {
  const format = readOutputFormat(options.output, ['text', 'json', 'yaml', 'name']);
  const name = await readScalerName(options.scaler, options, io);
  const now = io.clock.now();
  const pause = readPauseOptions(options, now);
  const target = await findTarget(name, options, io);
  const annotations = await openAnnotations(target, options, io);
  try {
    await annotations.write(annotationsOf(pause));
  } finally {
    annotations.close();
  }
  const { ref } = target;
  const until = instantOrNull(pause.until);
  const json = { ...name, target: ref, pause: { ...pause, until } };
  if (format === 'json' || format === 'yaml') io.stdout.write(writeStructured(format, json));
  else if (format === 'name') io.stdout.write(`${name.namespace}/${name.name}\n`);
  else {
    const resume = resumeCommand(name, options, io);
    io.stdout.write(`${localTimes(pauseText({ name, target, pause, now, resume }))}\n`);
  }
  if (format !== 'text' && pause.replicas !== null && target.reported?.isDryRun === true)
    io.stderr.write(`promscaler: warning: ${effectOf(pause, target)}\n`);
  return 0;
}

function pauseText(paused: {
  readonly name: ScalerName;
  readonly target: PauseTarget;
  readonly pause: PauseRequest;
  readonly now: Instant;
  readonly resume: string;
}): string {
  const { name, target, pause, now, resume } = paused;
  const key = `${name.namespace}/${name.name}`;
  const what = pause.direction === 'both' ? key : `${pause.direction} of ${key}`;
  const end =
    pause.until === null
      ? 'until resume'
      : `until ${formatInstant(pause.until)}, for ${formatSeconds(secondsBetween(now, pause.until))}`;
  return `${what} is paused ${end}: ${effectOf(pause, target)}. Decisions are still reported. Resume with \`${resume}\``;
}

/** Returns the command with the connection options, so the user can paste it. */
function resumeCommand(
  { namespace, name }: ScalerName,
  { target, url, serviceNamespace, kubeconfig, context }: PauseOptions,
  { command }: CommandIo,
): string {
  const given = { target, url, 'service-namespace': serviceNamespace, kubeconfig, context };
  return [`${command} resume ${namespace}/${name}`, ...writeOptions(given)].join(' ');
}

const EFFECTS = {
  both: 'is not scaled',
  'scale-up': 'is not scaled up',
  'scale-down': 'is not scaled down',
} as const;

function effectOf({ replicas, direction }: PauseRequest, target: PauseTarget): string {
  const workload = nameTarget(target.namespace, target.ref);
  if (replicas === null) return `${workload} ${EFFECTS[direction]} from the next decision on`;
  return target.reported?.isDryRun === true
    ? `${workload} would be kept at ${countOf(replicas, 'replica')}, but the dry run sets nothing`
    : `${workload} is set to ${countOf(replicas, 'replica')} and kept there from the next decision on`;
}

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
  if (target.reported?.isDryRun === true)
    return `${key} is resumed, and remains in dry run: ${workload} is still not scaled`;
  return `${key} is resumed: ${workload} is scaled again from the next decision on`;
}
