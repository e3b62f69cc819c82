import { replicasToStart } from '../../decision/snippet.js';
import { type JsonObject, countIn, objectIn, textIn } from '../../kubernetes/api/json.js';
import { readHorizontalPodAutoscaler } from '../../kubernetes/hpa.js';
import { secondsBetween, parseInstant } from '../../units/time.js';
import { quoteForShell } from '../../units/clean-text.js';
import { formatSeconds } from '../../units/format.js';
import { HPA } from '../reach/source-kinds.js';
import { kubectlFor, nameSource } from './adopt-options.js';
import { type AdoptContext, type ScalerObject, nameWorkload, readWorkload } from './adoption.js';
import { findHpa, whySecondIfListed, whyPausedInKeda } from './other-autoscaler.js';
import { whyNoValue, whyUnable } from './confirm-service.js';
import type { ScalerView } from '../../api/answers.js';

/** How often the dry run and the autoscaler had the same desired replicas, as counted by the service. */
export interface AgreementReport {
  readonly scaler: string;
  readonly beside: string;
  readonly since: string;
  readonly at: string;
  readonly rounds: number;
  readonly same: number;
  readonly largest: NonNullable<ScalerView['agreement']>['largest'];
  /** The replica counts of the last cycle; null: they were not compared. */
  readonly now: { readonly desiredReplicas: number; readonly theirReplicas: number } | null;
  /** Why the counts of the last cycle were not compared; null: they were compared. */
  readonly notCompared: string | null;
}

/** The scaler and the autoscaler to compare. */
interface Compared {
  readonly scaler: ScalerObject;
  /** The scaler in the API of the service; null: the service does not have it. */
  readonly view: ScalerView | null;
  /** The autoscaler; null: it does not exist anymore. */
  readonly object: JsonObject | null;
}

/** Returns the report, or a string that says why no cycle was compared. */
export async function readAgreement(
  context: AdoptContext,
  { scaler, view, object }: Compared,
): Promise<AgreementReport | string> {
  const key = `${context.source.namespace}/${scaler.name}`;
  if (view === null)
    return `the service has no scaler ${key}, or the first cycle of the scaler has not finished`;
  const { agreement, at, shadow, desiredReplicas } = view;
  const notCompared =
    shadow === null
      ? (whyPausedInKeda(context, object, scaler) ??
        whyNotCompared(view) ??
        (await whyNoCount(context, view, { scaler, object })))
      : null;
  if (agreement === null)
    return notCompared ?? 'this version of the service does not report the comparison. Upgrade the service';
  const { beside, since, rounds, same, largest } = agreement;
  const now =
    shadow === null || desiredReplicas === null
      ? null
      : { desiredReplicas, theirReplicas: shadow.theirReplicas };
  return { scaler: key, beside, since, at, rounds, same, largest, now, notCompared };
}

/** Returns why the dry run does not show what the scaler would do without dry run; null: the dry run shows it. */
function whyNotCompared(view: ScalerView): string | null {
  const { name, cause } = view.state;
  if (name === 'Paused' || name === 'Conflict') return `${name}: ${cause ?? ''}`;
  return whyUnable(view) ?? whyNoValue(view);
}

/** Returns why the service does not know the desired replicas of the autoscaler, and what to do about it. */
async function whyNoCount(
  context: AdoptContext,
  view: ScalerView,
  { scaler, object }: Pick<Compared, 'scaler' | 'object'>,
): Promise<string> {
  const { source } = context;
  const { kind, namespace } = source;
  if (object === null) return `${nameSource(source)} does not exist anymore`;
  const hpa = kind === HPA ? object : await findHpa(context);
  if (hpa === null) return whyNoHpa(context, object);
  const hpaName = textIn(objectIn(hpa, 'metadata'), 'name') ?? '';
  const label = `HPA ${namespace}/${hpaName}`;
  if (view.otherScaler === null)
    return `the service does not see ${label}. The service sees a new HPA within a minute; if the HPA is older, the service needs permission to list and watch horizontalpodautoscalers (autoscaling) in namespace ${namespace}, which the chart grants with rbac.create=true`;
  const second = await whySecondIfListed(context, scaler);
  if (second !== null) return second;
  const isLasting = view.state.name === 'NoAutoscaler';
  return (
    whyIdleHpa(context, hpa, isLasting) ?? `the service has not compared the desired replicas of ${label} yet`
  );
}

/**
 * Returns why an HPA has no desired replicas, and what to do; null: the HPA has desired replicas.
 * `isLasting`: the HPA has had none for a minute, so that waiting does not help.
 */
function whyIdleHpa(context: AdoptContext, hpa: JsonObject, isLasting: boolean): string | null {
  const { source } = context;
  const why = readHorizontalPodAutoscaler(hpa)?.whyNoCount;
  if (why === undefined) return null;
  const name = textIn(objectIn(hpa, 'metadata'), 'name') ?? '';
  // Names the ScaledObject instead of its HPA, as `doctor` and `explain` do.
  const described = source.kind === HPA ? `hpa ${name}` : `scaledobject ${source.name}`;
  const describe = kubectlFor(`describe ${described}`, context);
  const step = isLasting
    ? `Find out why: ${describe}`
    : `Wait until the HPA has desired replicas, or see ${describe}`;
  return `HPA ${source.namespace}/${name} has no desired replicas: ${why}. ${step}`;
}

/** Returns why a ScaledObject has no HPA, and what to do. */
function whyNoHpa(context: AdoptContext, object: JsonObject): string {
  const { source } = context;
  return (
    whyPausedInKeda(context, object) ??
    `${nameSource(source)} has no HPA: KEDA has not created one. See ${kubectlFor(`describe scaledobject ${source.name}`, context)}`
  );
}

/**
 * Returns why an autoscaler does not scale the target of the scaler, and what to do; null: it scales the target.
 * `isNew`: the autoscaler was just created, so that a missing HPA or count is no problem yet. `prevented`: the result
 * of `whyPrevented`.
 */
export async function whyIdle(
  context: AdoptContext,
  object: JsonObject,
  {
    scaler,
    isNew,
    prevented,
  }: {
    readonly scaler: Pick<ScalerObject, 'target'>;
    readonly isNew: boolean;
    readonly prevented: string | null;
  },
): Promise<string | null> {
  const { source } = context;
  const isHpa = source.kind === HPA;
  const workload = await readWorkload(context, scaler);
  const name = nameWorkload(context, scaler);
  if (workload === null) return `${nameSource(source)} scales nothing: ${name} does not exist`;
  const isAtZero = countIn(objectIn(workload ?? null, 'spec'), 'replicas') === 0;
  const minReplicas = countIn(objectIn(object, 'spec'), 'minReplicas');
  if (isHpa && isAtZero && minReplicas !== 0) {
    const { target } = scaler;
    const start = kubectlFor(
      `scale ${quoteForShell(`${target.kind.toLowerCase()}/${target.name}`)} ${replicasToStart(minReplicas)}`,
      context,
    );
    return `${nameSource(source)} does not scale ${name}: an HPA does not scale a target at 0 replicas. To start the target: ${start}`;
  }
  if (prevented !== null || isNew) return prevented;
  const hpa = isHpa ? object : await findHpa(context);
  if (hpa === null) return whyNoHpa(context, object);
  return isAtZero ? null : whyIdleHpa(context, hpa, false);
}

/** If the counts were equal in fewer rounds than this, a switch needs `--force`. */
const LOWEST_SHARE_PERCENT = 90;

/** Returns why the counts have differed too often for a switch; null: they have been equal often enough. */
export function whyDisagreeing({ same, rounds }: AgreementReport): string | null {
  if (100 * same >= LOWEST_SHARE_PERCENT * rounds) return null;
  return `the replica counts were equal in only ${shareText({ same, rounds })}, but must be equal in at least ${LOWEST_SHARE_PERCENT} %. Look at the largest difference, then correct the document, which restarts the comparison, or compare for longer`;
}

/** If the comparison was shorter than this, `adopt` prints a warning, because the load may hardly have varied. */
const SHORTEST_SECONDS = 3600;

/** Returns a warning if the comparison was shorter than `SHORTEST_SECONDS`, otherwise null. */
export function whyShort({ since, at }: AgreementReport): string | null {
  const seconds = secondsOf({ since, at });
  if (seconds === null || seconds >= SHORTEST_SECONDS) return null;
  return `the replica counts were compared for only ${formatSeconds(seconds)}. At another load, the replica counts may differ. Compare for a day, or better for a week`;
}

function secondsOf({ since, at }: Pick<AgreementReport, 'since' | 'at'>): number | null {
  const [start, end] = [parseInstant(since), parseInstant(at)];
  return start === null || end === null ? null : secondsBetween(start, end);
}

function shareText({ same, rounds }: Pick<AgreementReport, 'same' | 'rounds'>): string {
  // Rounds down, so that only full agreement is shown as 100 %.
  return `${same} of ${rounds} rounds (${Math.floor((1000 * same) / rounds) / 10} %)`;
}

export function agreementText(report: AgreementReport): string {
  const { scaler, beside, since, largest, now, notCompared } = report;
  const seconds = secondsOf(report);
  const length = seconds === null ? '' : `${formatSeconds(seconds)} `;
  const lines = [
    `${beside} and scaler ${scaler}, ${length}since ${since}`,
    `  same count          ${shareText(report)}`,
    ...(largest === null
      ? []
      : [
          `  largest difference  ${signed(largest.desiredReplicas - largest.theirReplicas)} at ${largest.at}: promscaler ${largest.desiredReplicas}, HPA ${largest.theirReplicas}`,
          `                      ${largest.reason}`,
        ]),
    now === null
      ? `  now                 not compared: ${notCompared ?? ''}`
      : `  now                 promscaler ${now.desiredReplicas}, HPA ${now.theirReplicas}`,
  ];
  return `${lines.join('\n')}\n`;
}

function signed(difference: number): string {
  return difference > 0 ? `+${difference}` : String(difference);
}
