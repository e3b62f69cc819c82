import { isPlainObject, valueAt } from '../scaler/plain-json.js';
import { quoteForShell } from '../units/quote-for-shell.js';
import type { StateName } from './state.js';

/** What to do about a state. */
export interface Remedy {
  /** An imperative. */
  readonly text: string;
  /** A command of a shell, or a query of Prometheus, to copy; null: there is none. */
  readonly command: string | null;
}

/** The facts of an answer of the API that a remedy needs. */
export interface TroubledScaler {
  readonly namespace: string;
  readonly name: string;
  readonly state: { readonly name: StateName };
  readonly target: { readonly kind: string; readonly name: string };
  readonly currentReplicas: number | null;
  readonly recommendedReplicas: number | null;
  readonly maxReplicas: number | null;
  readonly metrics: readonly { readonly metric: string; readonly error: string | null }[];
  readonly conditions: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason: string;
    readonly message: string;
  }[];
  readonly pause: { readonly by: 'annotation' | 'document' | 'both' } | null;
  readonly conflictingWriter: { readonly managers: readonly string[] } | null;
  readonly otherScaler: { readonly kind: string; readonly namespace: string; readonly name: string } | null;
  /** Null: the document is a file. */
  readonly generation: number | null;
  readonly rejections: readonly { readonly file: string | null; readonly line: number | null }[];
  readonly document: Readonly<Record<string, unknown>>;
}

/**
 * Returns what a person can do about the state of a scaler, the best first; empty: the state needs no action. A command
 * contains only what the document and the state say, and none of them changes anything before it is run.
 */
export function remediesOf(scaler: TroubledScaler): readonly Remedy[] {
  const find = REMEDIES[scaler.state.name];
  const remedies = find === undefined ? [] : find(scaler);
  const isHidden = scaler.rejections.length > 0 && find !== fixDocument;
  return isHidden ? [...fixDocument(scaler), ...remedies] : remedies;
}

type Find = (scaler: TroubledScaler) => readonly Remedy[];

/** States that end automatically, or that need no action, have no remedy. */
const REMEDIES: Partial<Record<StateName, Find>> = {
  Invalid: fixDocument,
  Rejected: fixDocument,
  Conflict: (scaler) => [...endConflict(scaler), keepReplicas(scaler)],
  NoTarget: ({ namespace, target }) => [
    {
      text: `Create the ${target.kind} ${target.name}, or correct spec.scaleTargetRef`,
      command: kubectl(namespace, 'get', plainKind(target.kind)),
    },
  ],
  WriteFailed: () => [
    {
      text: 'Check the permissions of promscaler and what rejects its requests',
      command: 'promscaler doctor',
    },
  ],
  PodsNotReady: (scaler) => [
    {
      text: 'Find out why the pods are not ready',
      command: kubectl(scaler.namespace, 'get', 'events', '--sort-by=.lastTimestamp'),
    },
    {
      text: 'See the conditions of its rollout',
      command: kubectl(scaler.namespace, 'describe', targetOf(scaler)),
    },
    keepReplicas(scaler),
  ],
  NoData: (scaler) => [...tryQueries(scaler), keepReplicas(scaler)],
  AtMaximum: (scaler) => [raiseMaximum(scaler)],
  Fixed: (scaler) =>
    scaler.currentReplicas === 0
      ? [
          {
            text: 'Set the target to at least 1 replica',
            command: kubectl(scaler.namespace, 'scale', targetOf(scaler), '--replicas=1'),
          },
        ]
      : [raiseMaximum(scaler)],
  Paused: endPause,
  DryRun: endDryRun,
};

function fixDocument({ namespace, name, rejections, generation }: TroubledScaler): readonly Remedy[] {
  const { file, line } = rejections.find((problem) => problem.file !== null) ?? { file: null, line: null };
  const isFile = file !== null && generation === null;
  const text = isFile
    ? `Correct ${file}${line === null ? '' : `, line ${line}`}, and validate it`
    : 'Correct the document, and apply it again';
  const command = isFile
    ? `promscaler validate ${quoteForShell(file)}`
    : kubectl(namespace, 'edit', OBJECTS, name);
  return [{ text, command }];
}

function endConflict(scaler: TroubledScaler): readonly Remedy[] {
  const { namespace, conditions, conflictingWriter, otherScaler } = scaler;
  if (otherScaler !== null) {
    const isAdoptable = adopt(scaler, '') !== null;
    const compare = patch(scaler, 'Or compare the two first, in dry run', 'dryRun', true);
    return [deleteOther(otherScaler), ...(isAdoptable ? [compare] : [])];
  }
  const held = conditions.find(({ type, status }) => type === 'Held' && status === 'True');
  if (held?.reason === 'ScaleOverridden')
    return [
      {
        text: 'Find the admission webhook that changes the replicas',
        command: 'kubectl get mutatingwebhookconfigurations',
      },
    ];
  const managers = conflictingWriter?.managers.join(', ') ?? '';
  return [
    {
      text: `Stop ${managers === '' ? 'the client' : managers} from setting spec.replicas`,
      command: kubectl(namespace, 'get', targetOf(scaler), '--show-managed-fields', '-o', 'yaml'),
    },
  ];
}

function deleteOther({ kind, namespace, name }: NonNullable<TroubledScaler['otherScaler']>): Remedy {
  const isScaler = kind === 'Scaler';
  const what = isScaler ? 'document (or its file)' : kind;
  const resource = kind === 'HorizontalPodAutoscaler' ? 'hpa' : isScaler ? OBJECTS : kind.toLowerCase();
  return {
    text: `Delete the second ${what}, ${namespace}/${name}, or this one`,
    command: kubectl(namespace, 'delete', resource, name),
  };
}

function endDryRun(scaler: TroubledScaler): readonly Remedy[] {
  const { otherScaler: other } = scaler;
  const isOfDocument = valueAt(scaler.document, ['spec', 'dryRun']) === true;
  const [report, handOver] = [adopt(scaler, '--report'), adopt(scaler, '--switch')];
  if (isOfDocument && other !== null && report !== null)
    return [
      { text: `Compare with ${other.kind} ${other.namespace}/${other.name}`, command: report },
      { text: 'Delete it and carry the decisions out, in one step with a way back', command: handOver },
    ];
  return [
    ...(other === null ? [] : [deleteOther(other)]),
    isOfDocument
      ? patch(scaler, 'Carry the decisions out', 'dryRun', false)
      : { text: 'Start the service without --dry-run to carry the decisions out', command: null },
  ];
}

/** `adopt` compares objects with an HPA or a ScaledObject, and hands over to them. Null: the two are others. */
function adopt({ namespace, otherScaler, generation }: TroubledScaler, flag: string): string | null {
  const resource = ADOPTED[otherScaler?.kind ?? ''];
  if (resource === undefined || otherScaler === null || generation === null) return null;
  return `promscaler adopt ${quoteForShell(`${resource}/${otherScaler.name}`)} -n ${namespace} ${flag}`;
}

const ADOPTED: Readonly<Record<string, string>> = {
  HorizontalPodAutoscaler: 'hpa',
  ScaledObject: 'scaledobject',
};

function endPause(scaler: TroubledScaler): readonly Remedy[] {
  const { pause, namespace } = scaler;
  if (pause === null)
    return [
      {
        text: 'Resume the rollout of the target',
        command: kubectl(namespace, 'rollout', 'resume', targetOf(scaler)),
      },
    ];
  return [
    ...(pause.by === 'document'
      ? []
      : [{ text: 'End the pause', command: `promscaler resume ${keyOf(scaler)}` }]),
    ...(pause.by === 'annotation' ? [] : [patch(scaler, 'End the pause of the document', 'paused', false)]),
  ];
}

/** The first remedy is about the first metric without a value, which is the one that the cause names. */
function tryQueries({ metrics, document }: TroubledScaler): readonly Remedy[] {
  const queries = queriesIn(document);
  const missing = metrics.filter(({ error }) => error !== null).map(({ metric }) => metric);
  const tries = missing.flatMap((metric): readonly Remedy[] => {
    const query = queries.get(metric);
    return query === undefined ? [] : [{ text: `Try the query of ${metric} in Prometheus`, command: query }];
  });
  const doctor = { text: 'Let doctor say why a metric has no value', command: 'promscaler doctor' };
  return queries.has(missing[0] ?? '') ? [...tries, doctor] : [doctor, ...tries];
}

/** Metrics of resources have no query in the document. */
function queriesIn(document: TroubledScaler['document']): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const metrics = valueAt(document, ['spec', 'metrics']);
  for (const metric of Array.isArray(metrics) ? metrics : []) {
    for (const source of Object.values(isPlainObject(metric) ? metric : {})) {
      const [name, query] = [valueAt(source, ['metric', 'name']), valueAt(source, ['query'])];
      if (typeof name === 'string' && typeof query === 'string') found.set(name, query);
    }
  }
  return found;
}

/** A schedule or `maxReplicasFrom` may set the maximum in effect: then the document's own is another number. */
function raiseMaximum(scaler: TroubledScaler): Remedy {
  const { maxReplicas, recommendedReplicas } = scaler;
  const own = valueAt(scaler.document, ['spec', 'maxReplicas']);
  if (maxReplicas === null || recommendedReplicas === null || own !== maxReplicas)
    return {
      text: `Raise the maximum of ${maxReplicas ?? 'the schedule'}: a schedule or maxReplicasFrom sets it`,
      command: null,
    };
  const text = `Raise spec.maxReplicas: ${recommendedReplicas} replicas are recommended`;
  return patch(scaler, text, 'maxReplicas', recommendedReplicas);
}

/** An object is patched; a file is edited by its owner. */
function patch(scaler: TroubledScaler, text: string, field: string, value: number | boolean): Remedy {
  if (scaler.generation === null)
    return {
      text: `${text}. Set it in the file of ${scaler.namespace}/${scaler.name}`,
      command: `${field}: ${value}`,
    };
  const json = JSON.stringify({ spec: { [field]: value } });
  const { namespace, name } = scaler;
  return {
    text,
    command: kubectl(namespace, 'patch', OBJECTS, name, '--type=merge', '-p', json),
  };
}

function keepReplicas(scaler: TroubledScaler): Remedy {
  const { currentReplicas } = scaler;
  return {
    text: `Keep ${currentReplicas === null ? 'the replicas' : `${currentReplicas} replicas`} for 30 minutes meanwhile`,
    command: `promscaler pause ${keyOf(scaler)} --for 30m`,
  };
}

const OBJECTS = 'scalers.promscaler.dev';

function keyOf({ namespace, name }: TroubledScaler): string {
  return quoteForShell(`${namespace}/${name}`);
}

function targetOf({ target }: TroubledScaler): string {
  return `${plainKind(target.kind)}/${target.name}`;
}

function plainKind(kind: string): string {
  return kind.toLowerCase();
}

function kubectl(namespace: string, verb: string, ...words: readonly string[]): string {
  return ['kubectl', verb, '-n', namespace, ...words].map(quoteForShell).join(' ');
}
