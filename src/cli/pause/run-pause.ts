import { nameTarget } from '../../kubernetes/targets.js';
import { formatInstant, secondsBetween } from '../../units/time.js';
import type { Instant } from '../../units/time.js';
import { formatSeconds } from '../../units/format-seconds.js';
import type { CommandIo, ExitCode } from '../process/io.js';
import { readOutputFormat, writeStructured } from '../output/output-format.js';
import type { ScalerName } from '../reach/service-pages.js';
import { annotationsOf, openAnnotations } from './annotations.js';
import { findTarget } from './find-target.js';
import type { PauseTarget } from './find-target.js';
import { readScalerName } from '../reach/scaler-name.js';
import { readPauseOptions } from './pause-options.js';
import type { PauseRequest, PauseOptions } from './pause-options.js';

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
  const until = pause.until === null ? null : formatInstant(pause.until);
  const json = { ...name, target: ref, pause: { ...pause, until } };
  if (format === 'json' || format === 'yaml') io.stdout.write(writeStructured(format, json));
  else if (format === 'name') io.stdout.write(`${name.namespace}/${name.name}\n`);
  else
    io.stdout.write(`${pauseText({ name, target, pause, now, resume: resumeCommand(name, options, io) })}\n`);
  for (const warning of warningsFor(pause, target)) io.stderr.write(`promscaler: warning: ${warning}\n`);
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
  const workload = nameTarget(target.namespace, target.ref);
  const effect =
    pause.replicas === null
      ? `${workload} ${EFFECTS[pause.direction]}`
      : `${workload} is set to ${pause.replicas} replicas and kept there`;
  return `${what} is paused ${end}: ${effect} from the next decision on. Decisions are still reported. Resume with \`${resume}\``;
}

/** Returns the command with the connection options, so the user can paste it. */
function resumeCommand(
  { namespace, name }: ScalerName,
  { target, url, serviceNamespace, kubeconfig, context }: PauseOptions,
  { command = 'promscaler' }: CommandIo,
): string {
  const given = { target, url, 'service-namespace': serviceNamespace, kubeconfig, context };
  const options = Object.entries(given).flatMap(([option, value]) =>
    value === undefined ? [] : [`--${option} ${value}`],
  );
  return [`${command} resume ${namespace}/${name}`, ...options].join(' ');
}

const EFFECTS = {
  both: 'is not scaled',
  'scale-up': 'is not scaled up',
  'scale-down': 'is not scaled down',
} as const;

function warningsFor({ replicas }: PauseRequest, { reported }: PauseTarget): readonly string[] {
  return replicas !== null && reported?.isDryRun === true
    ? [`the scaler is in dry run, so ${replicas} replicas are not set`]
    : [];
}
