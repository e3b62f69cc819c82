import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { KubernetesError } from '../../kubernetes/api/types.js';
import { createTransport } from '../../kubernetes/requests/transport.js';
import type { Problem } from '../../scaler/problems/problem.js';
import { readScalers } from '../../scaler/read/read-scalers.js';
import type { TargetRef } from '../../scaler/spec.js';
import { withDeadline } from '../../units/clock.js';
import { errorCode } from '../../units/failure.js';
import { CommandError, type CommandIo, type ExitCode, usageError } from '../output/io.js';
import { VERSION } from '../output/version.js';
import { guessTarget, type ParsedTarget, readTarget } from '../reach/target-kind.js';
import { checkTarget } from './check-target.js';
import { findKind } from './find-kind.js';
import {
  type NewMetric,
  type NewOptions,
  readNewOptions,
  type NewQuery,
  type NewRequest,
} from './new-options.js';
import { type Connection, findConnection } from '../../kubernetes/access/connection.js';
import { ConnectionError } from '../../kubernetes/access/kubeconfig.js';
import { SILENT_LOG } from '../../units/log.js';
import { type ClusterOptions, connectionAccess } from '../reach/cluster-options.js';
import { BUILT_IN, PRESETS } from '../../scaler/schema/presets.js';
import { API_VERSION } from '../../scaler/schema/document-schema.js';

/**
 * Runs `new`: prints a valid scaler document for a workload. If there is a connection to the cluster, checks the
 * workload. Problems of the workload and of the connection are warnings on standard error.
 */
export async function runNew(targetText: string, options: NewOptions, io: CommandIo): Promise<ExitCode> {
  const request = readNewOptions(options);
  const parsed = readTarget(targetText);
  const isOffline = options.offline === true;
  const access = await findAccess(io, options);
  const namespace = options.namespace ?? access.namespace ?? 'default';
  const name = options.name ?? parsed.name;
  const build = (target: TargetRef): string => {
    return writeDocument({ ...request, namespace, name, target, file: options.outputFile ?? null });
  };
  const nameOption = options.name === undefined ? WORKLOAD_NAME : '--name';
  // The document is checked before the first request, so that invalid options are reported at once. The kind may not be
  // known yet.
  const draft = parsed.ref ?? { apiVersion: 'apps/v1', kind: 'Deployment', name: parsed.name };
  const warnings = checkText(build(draft), nameOption);

  const found = isOffline
    ? { ref: null, warnings: [], failure: '--offline is set' }
    : await checkCluster({ access, target: parsed, namespace, name, metrics: request.metrics, io });
  const target = parsed.ref ?? found.ref ?? guessTarget(parsed.name, parsed.unknown, found.failure);
  const text = build(target);
  checkText(text, nameOption);
  for (const warning of [...warnings, ...found.warnings])
    io.stderr.write(`promscaler: warning: ${warning}\n`);
  await writeOutput(text, options.outputFile, io);
  return 0;
}

interface ClusterCheck {
  /** Null: the cluster does not have the kind, or does not answer. */
  readonly ref: TargetRef | null;
  readonly warnings: readonly string[];
  /** Why `ref` is null, as the end of a message. */
  readonly failure: string;
}

interface ClusterCheckInput {
  readonly access: ClusterAccess;
  readonly target: ParsedTarget;
  readonly namespace: string;
  readonly name: string;
  readonly metrics: readonly NewMetric[];
  readonly io: CommandIo;
}

/** Time limit for all requests together. */
const DEADLINE_MS = 5000;

/** Checks the target in the cluster. If the cluster does not answer in time, that is a warning, not an error. */
async function checkCluster(input: ClusterCheckInput): Promise<ClusterCheck> {
  const { access, target, namespace, name, metrics, io } = input;
  if (access.connection === null) return notChecked(access.failure ?? 'no connection');
  const { clock, signal: parent } = io;
  const userAgent = `promscaler/${VERSION}`;
  const transport = createTransport({ connection: access.connection, clock, userAgent });
  try {
    return await withDeadline(clock, { ms: DEADLINE_MS, parent }, async (signal) => {
      const kind = await findKind(transport, target, signal);
      if ('missing' in kind) return { ref: null, warnings: [kind.missing], failure: kind.missing };
      const warnings = await checkTarget({ transport, ...kind, namespace, name, metrics, signal });
      return { ref: kind.ref, warnings, failure: '' };
    });
  } catch (error) {
    if (!(error instanceof KubernetesError)) throw error;
    return notChecked(error.message);
  } finally {
    transport.close();
  }
}

function notChecked(why: string): ClusterCheck {
  const failure = `the cluster was not checked: ${why}`;
  return { ref: null, warnings: [failure], failure };
}

const WRITE_FAILURES: Readonly<Record<string, string>> = {
  EEXIST: 'the file exists and is not overwritten',
  ENOENT: 'the directory does not exist',
  EACCES: 'permission denied',
};

async function writeOutput(text: string, file: string | undefined, io: CommandIo): Promise<void> {
  if (file === undefined || file === '-') {
    io.stdout.write(text);
    return;
  }
  try {
    await writeFile(resolve(io.cwd, file), text, { flag: 'wx' });
  } catch (error) {
    throw new CommandError(`writing ${file}: ${WRITE_FAILURES[errorCode(error) ?? ''] ?? String(error)}`);
  }
  io.stdout.write(`${file} created. Next: ${io.command} validate ${file}\n`);
}

const WORKLOAD_NAME = 'the name of the workload';

/** Maps field paths in a message to options. A path that contains another path comes first. */
const OPTIONS: readonly (readonly [RegExp, string])[] = [
  [/spec\.metrics\[\d+\]\.\w+\.target\.averageValue/g, '--average-value'],
  [/spec\.metrics\[\d+\]\.\w+\.target\.value/g, '--value'],
  [/spec\.metrics\[\d+\]\.\w+\.query/g, '--query'],
  [/spec\.scaleTargetRef\.name/g, WORKLOAD_NAME],
  [/spec\.scaleTargetRef\.(?:kind|apiVersion)/g, 'the kind of the workload'],
  [/spec\.minReplicas/g, '--min'],
  [/spec\.maxReplicas/g, '--max'],
  [/spec\.preset/g, '--preset'],
  [/metadata\.namespace/g, '--namespace'],
  [/an Object or External metric/g, 'a --query that returns a total (an External metric)'],
];

/**
 * Returns warnings about the new document. Throws `CommandError` for errors. Messages name options instead of fields;
 * `nameOption` is the option that has set the name of the scaler.
 */
function checkText(text: string, nameOption: string): readonly string[] {
  const describe = ({ message }: Problem): string => withOptionNames(message, nameOption);
  const { problems } = readScalers(text, 'the new document');
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) {
    const sentences = new Set(errors.map(describe));
    throw usageError([...sentences].join('\npromscaler: '));
  }
  return problems.map(describe);
}

function withOptionNames(message: string, nameOption: string): string {
  return [...OPTIONS, [/metadata\.name/g, nameOption] as const].reduce(
    (text, [path, option]) => text.replace(path, option),
    message,
  );
}

interface ClusterAccess {
  readonly connection: Connection | null;
  /** Namespace of the kubeconfig context or of the pod's service account; null: unknown. */
  readonly namespace: string | null;
  /** Why there is no connection; null: there is one. */
  readonly failure: string | null;
}

/** Time limit of a credential plugin. If it is exceeded, the document is written without reading the cluster. */
const PLUGIN_MS = 5000;

/** Reads the kubeconfig and, unless `offline`, runs its credential plugin for at most 5 s. Sends no request. */
async function findAccess(
  io: CommandIo,
  { kubeconfig, context, url, offline = false }: ClusterOptions & { readonly offline?: boolean },
): Promise<ClusterAccess> {
  try {
    const { runPlugin, ...access } = connectionAccess(io);
    const connection = await findConnection({
      settings: { kubeconfig, context, url },
      prefersKubeconfig: true,
      log: SILENT_LOG,
      ...access,
      ...(offline
        ? {}
        : { runPlugin: (run) => runPlugin({ ...run, timeoutMs: Math.min(run.timeoutMs, PLUGIN_MS) }) }),
    });
    return { connection, namespace: connection.namespace ?? null, failure: null };
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
    return { connection: null, namespace: null, failure: error.message };
  }
}

interface NewDocument extends NewRequest {
  readonly namespace: string;
  readonly name: string;
  readonly target: TargetRef;
  /** File to which the document is written; null: standard output. */
  readonly file: string | null;
}

/** Returns a document as YAML with comments. The first lines list the commands for the next steps. */
function writeDocument(document: NewDocument): string {
  const { namespace, name, target, min, max, preset, metrics } = document;
  const file = nameInComment(document.file);
  const lines = [
    `# Next: "promscaler validate ${file}" validates this document, "promscaler show ${file}" prints every default,`,
    `# "kubectl apply -f ${file}" applies the document (chart value crd.enabled: true). If the CRD is not installed, add the document to the release:`,
    `# "helm upgrade ... --set-file scalers.NAME=${file}".`,
    `apiVersion: ${API_VERSION}`,
    'kind: Scaler',
    'metadata:',
    `  name: ${scalar(name)} # name of the scaler, unique in its namespace`,
    `  namespace: ${scalar(namespace)} # namespace of the scaler and the workload`,
    'spec:',
    ...(preset === null ? [] : [`  preset: ${scalar(preset)} # defaults of the limits`]),
    '  scaleTargetRef:',
    `    apiVersion: ${scalar(target.apiVersion)} # only the group is used, not the version`,
    `    kind: ${scalar(target.kind)}`,
    `    name: ${scalar(target.name)}`,
    `  minReplicas: ${min}${min === 0 ? ' # the workload scales to zero and back, which needs a query that has a value without pods' : ''}`,
    `  maxReplicas: ${max}`,
    '  metrics: # the metric with the highest recommendation wins',
    ...metrics.flatMap(metricLines),
    ...defaultLines(preset),
  ];
  return `${lines.join('\n')}\n`;
}

/** Replaces a file name that needs quotes in a shell by FILE, because it could also end the comment. */
function nameInComment(file: string | null): string {
  return file !== null && /^[\w./][\w./-]*$/.test(file) ? file : 'FILE';
}

function metricLines(metric: NewMetric): readonly string[] {
  if (metric.type !== 'Resource') return queryLines(metric);
  const { resource, percent } = metric;
  return [
    '    - type: Resource',
    '      resource:',
    `        name: ${resource}`,
    '        target:',
    '          type: Utilization',
    `          averageUtilization: ${percent} # percent of the requests; each container needs a ${resource} request`,
  ];
}

const MEANINGS = {
  Pods: 'one series per pod, with the label pod; use type External for a total over all pods',
  External: 'the sum of all series; use type Pods for one series per pod',
} as const;

function queryLines({ type, query, name, target }: NewQuery): readonly string[] {
  const { member, quantity } = target;
  const meaning = member === 'value' ? 'for all pods together' : 'per pod';
  return [
    `    - type: ${type} # ${MEANINGS[type]}`,
    `      ${type === 'Pods' ? 'pods' : 'external'}:`,
    ...(name === null ? [] : [`        metric: { name: ${name} } # the query contains no metric name`]),
    ...blockLines('        query:', query),
    '        target:',
    `          type: ${member === 'value' ? 'Value' : 'AverageValue'}`,
    `          ${member}: ${quantityScalar(quantity)} # ${meaning}`,
  ];
}

function defaultLines(preset: string | null): readonly string[] {
  const known = Object.entries(PRESETS).find(([name]) => name === (preset ?? BUILT_IN.preset));
  const values = (known ?? ['', PRESETS.hpa])[1];
  const fields: readonly (readonly [string, string | number, string])[] = [
    ['tolerance', BUILT_IN.tolerance, 'a metric within this fraction of its target changes nothing'],
    [
      'downscaleStabilizationSeconds',
      values.downscaleStabilizationSeconds,
      'scale down to the highest recommendation of this window',
    ],
    [
      'upscaleForbiddenWindowSeconds',
      values.upscaleForbiddenWindowSeconds,
      'minimum time between two scale-ups',
    ],
    [
      'downscaleForbiddenWindowSeconds',
      values.downscaleForbiddenWindowSeconds,
      'minimum time between two scale-downs',
    ],
    ['syncPeriodSeconds', BUILT_IN.syncPeriodSeconds, 'interval between two decisions'],
  ];
  return [
    '  # Built-in values of unset fields, unless defaults in the service config override them:',
    ...fields.map(([field, value, meaning]) => `  # ${field}: ${value} # ${meaning}`),
    ...(values.downscaleStabilizationSeconds > 0 ? [] : [CONFIRMATION]),
    '  # dryRun: true # not a default: decide and report, but patch nothing',
  ];
}

/**
 * This line is added if the preset has no stabilization: without confirmation, a single wrong result would scale down.
 */
const CONFIRMATION =
  '  # downscaleConfirmation: {} # not a default: scale down only if every decision of 60 s, and at least 3, recommends it';

const PLAIN = /^[A-Za-z][A-Za-z0-9./-]*$/;
/** Words that YAML 1.1 or 1.2 does not read as strings unless they are quoted. */
const WORDS = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

function scalar(text: string): string {
  return PLAIN.test(text) && !WORDS.test(text) ? text : JSON.stringify(text);
}

/** Returns a quantity, in quotes if it would lose digits as a YAML number. */
function quantityScalar(text: string): string {
  return /^(?:0|[1-9]\d{0,14})(?:\.\d{1,3})?(?:m|k|[MGTPE]i?|Ki)?$/.test(text) ? text : JSON.stringify(text);
}

/** Returns a block scalar, or a quoted string if the text contains characters that a block scalar cannot represent. */
function blockLines(key: string, text: string): readonly string[] {
  if (!/^[\n\x20-\x7e]+$/.test(text)) return [`${key} ${JSON.stringify(text)}`];
  return [`${key} |-`, ...text.split('\n').map((line) => `          ${line}`.trimEnd())];
}
