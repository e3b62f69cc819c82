import { readPause } from '../../control/cycle/pause.js';
import { whyNotScaling } from '../../control/cycle/shared-targets.js';
import { nameOtherScaler } from '../../decision/pause.js';
import { PAUSE_ANNOTATIONS, type TargetRef } from '../../scaler/spec.js';
import { APPS_ROOT, nameTarget, watchedPlural } from '../../kubernetes/targets.js';
import { countOf, formatSeconds } from '../../units/format.js';
import { formatInstant, type Instant, instantOrNull, secondsBetween } from '../../units/time.js';
import { shortTimes, writeOptions } from '../output/lines.js';
import { readOutputFormat, writeStructured } from '../output/output-format.js';
import { CommandError, type CommandIo, type ExitCode } from '../output/io.js';
import { readScalerName } from '../reach/scaler-name.js';
import type { ScalerName } from '../reach/service-pages.js';
import {
  type PauseOptions,
  type PauseRequest,
  readPauseOptions,
  type ResumeOptions,
} from './pause-options.js';
import { type JsonObject, objectIn, textsIn } from '../../kubernetes/api/json.js';
import { readWorkload, workloadPath } from '../../kubernetes/scale.js';
import { createTransport } from '../../kubernetes/requests/transport.js';
import { clusterError } from '../reach/cluster-objects.js';
import { ANSWER_DEADLINE_MS, connectToCluster } from '../reach/find-service.js';
import { VERSION } from '../output/version.js';
import type { ScalerView } from '../../api/answers.js';
import { readTarget } from '../reach/target-kind.js';
import { withService } from '../reach/service-client.js';

/** Runs `pause`: annotates the target, with the permissions of the user. Replaces an earlier pause. */
export async function runPause(options: PauseOptions, io: CommandIo): Promise<ExitCode> {
  const format = readOutputFormat(options.output, ['text', 'json', 'yaml', 'name']);
  const name = await readScalerName(options.scaler, options, io);
  const now = io.clock.now();
  const pause = readPauseOptions(options, now);
  const target = await findTarget(name, options, io);
  await withAnnotations({ target, options, io }, ({ write }) => write(annotationsOf(pause)));
  const json = { ...name, target: target.ref, pause: { ...pause, until: instantOrNull(pause.until) } };
  if (format === 'json' || format === 'yaml') io.stdout.write(writeStructured(format, json));
  else if (format === 'name') io.stdout.write(`${name.namespace}/${name.name}\n`);
  else {
    const effect = `${pauseText(name, pause, now)}: ${effectOf(pause, target)}`;
    const text = `${effect}. Decisions are still reported. Resume with \`${resumeCommand(name, options, io)}\``;
    io.stdout.write(`${shortTimes(text, now)}\n`);
  }
  if (format !== 'text' && pause.replicas !== null && target.reported?.isDryRun === true)
    io.stderr.write(`promscaler: warning: ${effectOf(pause, target)}\n`);
  return 0;
}

/** Returns for example `scale-up of shop/web is paused until resume`. */
function pauseText(
  { namespace, name }: ScalerName,
  { direction, until }: PauseRequest,
  now: Instant,
): string {
  const what = `${direction === 'both' ? '' : `${direction} of `}${namespace}/${name} is paused until`;
  if (until === null) return `${what} resume`;
  return `${what} ${formatInstant(until)}, for ${formatSeconds(secondsBetween(now, until))}`;
}

/** Returns the command that ends the pause, with the connection options, so that the user can paste it. */
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
  const isDryRun = target.reported?.isDryRun === true;
  const other = target.reported?.other ?? null;
  const idle = target.reported?.idle ?? null;
  if (replicas === null && idle !== null) return `nothing scales ${workload}: ${idle}`;
  if (replicas === null)
    return other === null
      ? `${workload} ${EFFECTS[direction]} from the next decision on`
      : `${other} goes on scaling ${workload}, because the pause applies only to promscaler`;
  const also = other === null ? '' : `, and ${other} goes on scaling it`;
  const why = isDryRun
    ? 'the dry run changes no replicas'
    : 'promscaler patches nothing next to another autoscaler';
  return isDryRun || other !== null
    ? `${workload} would be kept at ${countOf(replicas, 'replica')}, but ${why}${also}`
    : `${workload} is set to ${countOf(replicas, 'replica')} and kept there from the next decision on`;
}

/** Runs `resume`: removes the annotations of a pause, with the permissions of the user. */
export async function runResume(options: ResumeOptions, io: CommandIo): Promise<ExitCode> {
  const format = readOutputFormat(options.output, ['text', 'json', 'yaml', 'name']);
  const name = await readScalerName(options.scaler, options, io);
  const key = `${name.namespace}/${name.name}`;
  const target = await findTarget(name, options, io);
  const found = await withAnnotations({ target, options, io }, async ({ read, write }) => {
    const present = await read();
    const isAnnotated = Object.values(PAUSE_ANNOTATIONS).some((one) => Object.hasOwn(present, one));
    if (isAnnotated) await write(NO_PAUSE);
    return { isAnnotated, isPaused: readPause({ paused: false }, present, io.clock.now()) !== null };
  });
  const isByDocument = target.reported?.isPausedByDocument === true;
  if (!found.isAnnotated && isByDocument) throw new CommandError(`${key} is ${BY_DOCUMENT}`);
  const json = { ...name, target: target.ref, wasPaused: found.isPaused, pause: null };
  if (format === 'json' || format === 'yaml') io.stdout.write(writeStructured(format, json));
  else io.stdout.write(`${format === 'name' ? key : resumeText(key, target, found)}\n`);
  if (isByDocument) io.stderr.write(`promscaler: warning: ${key} is still ${BY_DOCUMENT}\n`);
  return 0;
}

const BY_DOCUMENT = 'paused by its document. To end the pause, remove spec.paused from the document';

interface RemovedPause {
  readonly isAnnotated: boolean;
  readonly isPaused: boolean;
}

function resumeText(key: string, target: PauseTarget, { isAnnotated, isPaused }: RemovedPause): string {
  const workload = nameTarget(target.namespace, target.ref);
  if (!isAnnotated) return `${key} is not paused: ${workload} has no annotations of a pause`;
  if (!isPaused) return `the pause of ${key} had already ended; removed the annotations from ${workload}`;
  if (target.reported?.isDryRun === true) {
    const { other } = target.reported;
    const effect =
      other === null ? `${workload} is still not scaled` : `${other} goes on scaling ${workload}`;
    return `${key} is resumed, but remains in dry run: ${effect}`;
  }
  if (target.reported?.isPausedByDocument === true)
    return `the pause of ${key} by annotations has ended: removed the annotations from ${workload}`;
  return `${key} is resumed: ${workload} is scaled again from the next decision on, and stabilization includes the recommendations that were made during the pause`;
}

/** Reads and writes the annotations of a target with the permissions of the user. Failures are `CommandError`s. */
interface TargetAnnotations {
  readonly read: () => Promise<Readonly<Record<string, string>>>;
  /** Sends one merge patch; null removes an annotation. */
  readonly write: (annotations: Readonly<Record<string, string | null>>) => Promise<void>;
}

/** Returns all annotations of a pause. Null removes an annotation that an earlier pause may have left. */
function annotationsOf({ direction, until, replicas, reason }: PauseRequest): Record<string, string | null> {
  return {
    [PAUSE_ANNOTATIONS.paused]: direction === 'both' ? 'true' : direction,
    [PAUSE_ANNOTATIONS.until]: instantOrNull(until),
    [PAUSE_ANNOTATIONS.replicas]: replicas === null ? null : String(replicas),
    [PAUSE_ANNOTATIONS.reason]: reason,
  };
}

const NO_PAUSE: Readonly<Record<string, null>> = Object.fromEntries(
  Object.values(PAUSE_ANNOTATIONS).map((name) => [name, null]),
);

/** The field manager in `managedFields`, which shows that the user and not the service wrote the annotations. */
const FIELD_MANAGER = 'promscaler-pause';

/** Calls `use` with a connection to the cluster of the target, which is closed afterwards. */
async function withAnnotations<T>(
  {
    target,
    options,
    io,
  }: { readonly target: PauseTarget; readonly options: ResumeOptions; readonly io: CommandIo },
  use: (annotations: TargetAnnotations) => Promise<T>,
): Promise<T> {
  const connection = await connectToCluster(options, io);
  const transport = createTransport({ connection, clock: io.clock, userAgent: `promscaler/${VERSION}` });
  const { namespace, ref, plural } = target;
  const workload = { transport, kind: { root: APPS_ROOT, plural }, namespace, ref, signal: io.signal };
  const explained = async (verb: string, request: Promise<JsonObject>): Promise<JsonObject> => {
    try {
      return await request;
    } catch (error) {
      const missing = `${nameTarget(namespace, ref)} does not exist`;
      throw clusterError(error, { verb, plural, namespace }, () => missing);
    }
  };
  const annotations: TargetAnnotations = {
    read: async () => {
      const object = await explained('get', readWorkload(workload, ANSWER_DEADLINE_MS));
      return textsIn(objectIn(object, 'metadata'), 'annotations');
    },
    write: async (written) => {
      const request = transport.request({
        lane: 'write',
        path: workloadPath(workload),
        query: { fieldManager: FIELD_MANAGER },
        body: { metadata: { annotations: written } },
        doing: `annotating ${nameTarget(namespace, ref)}`,
        verb: 'patch',
        resource: plural,
        deadlineMs: ANSWER_DEADLINE_MS,
        signal: io.signal,
      });
      await explained('patch', request);
    },
  };
  try {
    return await use(annotations);
  } finally {
    transport.close();
  }
}

interface PauseTarget {
  readonly namespace: string;
  readonly ref: TargetRef;
  readonly plural: string;
  /** What the service reports about the scaler; null: `--target` is set, so the service is not queried. */
  readonly reported: {
    readonly isDryRun: boolean;
    readonly isPausedByDocument: boolean;
    /** Another autoscaler that scales the target, such as `HorizontalPodAutoscaler shop/web`; null: none. */
    readonly other: string | null;
    /** Why nothing scales the target of a dry run; null: another autoscaler scales it, or there is no dry run. */
    readonly idle: string | null;
  } | null;
}

/** Returns the target of `--target`, otherwise the target that the service reports. Throws `CommandError`. */
async function findTarget(name: ScalerName, options: ResumeOptions, io: CommandIo): Promise<PauseTarget> {
  const row = options.target === undefined ? await findRow(name, options, io) : null;
  const ref = row === null ? readTarget(options.target ?? '').ref : row.target;
  const plural = ref === null ? null : watchedPlural(ref);
  if (ref === null || plural === null)
    throw new CommandError(
      `${ref?.kind ?? options.target ?? ''} cannot be paused by annotations: promscaler reads the annotations only from Deployments, StatefulSets and ReplicaSets. Set spec.paused: true in the document of ${name.namespace}/${name.name}`,
    );
  return { namespace: name.namespace, ref, plural, reported: row === null ? null : reportedState(row) };
}

function findRow(name: ScalerName, options: ResumeOptions, io: CommandIo): Promise<ScalerView> {
  return withService(options, io, async (client) => {
    const { rows } = await client.listScalers(name.namespace);
    const row = rows.find((one) => one.name === name.name);
    if (row !== undefined) return row;
    const { message } = await client.explainMissing(name);
    throw new CommandError(`${message}\n--target KIND/NAME selects the workload without the service`);
  });
}

function reportedState({ pause, dryRun, otherScaler: other }: ScalerView): PauseTarget['reported'] {
  return {
    isDryRun: dryRun,
    isPausedByDocument: pause?.by === 'document' || pause?.by === 'both',
    // An HPA without desired replicas scales nothing. Without dry run, promscaler does not scale a target of two
    // documents.
    other:
      other === null || other.whyNoCount !== undefined || (other.kind === 'Scaler' && !dryRun)
        ? null
        : nameOtherScaler(other),
    idle: dryRun && other?.whyNoCount !== undefined ? whyNotScaling(other) : null,
  };
}
