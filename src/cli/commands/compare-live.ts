import { resolveServiceConfig, type ServiceConfig } from '../../config/resolve-service-config.js';
import { findOtherScaler } from '../../control/cycle/shared-targets.js';
import type { ImportedManifest } from '../../importers/import-objects.js';
import { isIncomplete } from '../../importers/draft/draft.js';
import { oneLine } from '../../importers/draft/comments.js';
import { nameTarget } from '../../kubernetes/targets.js';
import { KubernetesError, type OtherScaler } from '../../kubernetes/api/types.js';
import type { Answer } from '../../prometheus/answers/answer.js';
import { readAnswers } from '../../prometheus/metric-source.js';
import { readScalers } from '../../scaler/read/read-scalers.js';
import type { Scaler } from '../../scaler/spec.js';
import type { CycleRecord } from '../../telemetry/cycle-record.js';
import { describeFailure } from '../../units/failure.js';
import { mapAtOnce } from '../../units/semaphore.js';
import { decideOnce } from '../checks/decision.js';
import { type ClusterContext, type SourceContext, usedSources } from '../checks/context.js';
import { readOptionsOf, requireServiceConfig, withPrometheusUrl } from '../input/service-config.js';
import { openCluster } from '../checks/cluster.js';
import { createRecognizedClient, openDataSource } from '../checks/open-data-source.js';
import { readClusterFacts } from '../checks/scaler-facts.js';
import { type ClusterOptions, withCluster } from '../reach/cluster-options.js';
import type { CommandIo } from '../output/io.js';
import { countOf } from '../../units/format.js';

export interface LiveOptions extends ClusterOptions {
  /** File with the service config, which contains the data sources. */
  readonly config?: string;
  /** URL that replaces those of the data source `default`. */
  readonly prometheus?: string;
}

const CONCURRENT = 8;

/**
 * Compares what each document decides now with the current count of its HPA. Returns one line for each document, in the
 * same order. Sends only read requests.
 */
export async function compareLive(
  objects: readonly ImportedManifest[],
  options: LiveOptions,
  io: CommandIo,
): Promise<readonly string[]> {
  const config = await readConfig(options, io);
  const documents = objects.map((object) => ({ object, read: readDocument(object, config) }));
  const scalers = documents.flatMap(({ read }) => (typeof read === 'string' ? [] : [read]));
  const { clock, signal, env } = io;
  const context = { clock, signal, env, config, scalers };
  const opened = await openCluster(context);
  if ('status' in opened) return documents.map(({ object }) => notCompared(object, opened.message));
  const sources = new Map(
    await Promise.all(
      Object.entries(config.prometheus).map(async ([name, source]) => {
        const { recognized } = openDataSource(context, source);
        return [name, await recognized()] as const;
      }),
    ),
  );
  const answers = readAnswers(
    {
      sources: usedSources(config, sources),
      clock,
      onQuery: () => undefined,
      createClient: (source) => createRecognizedClient(source, io),
    },
    scalers,
    signal,
  );
  try {
    return await mapAtOnce(documents, CONCURRENT, async ({ object, read }) =>
      typeof read === 'string'
        ? notCompared(object, read)
        : compareOne(object, read, { context: opened.context, sources, answers }),
    );
  } finally {
    opened.close();
  }
}

async function readConfig(options: LiveOptions, io: CommandIo): Promise<ServiceConfig> {
  const { config: file, prometheus } = options;
  const config = (await requireServiceConfig(file, io)) ?? resolveServiceConfig({}, null);
  return withCluster(withPrometheusUrl(config, prometheus), options);
}

/** Returns the document, or a string that says why it cannot be compared. */
function readDocument({ text, draft }: ImportedManifest, config: ServiceConfig): Scaler | string {
  if (draft === null || isIncomplete(draft)) return 'the document is incomplete: replace each FILL IN';
  const { scalers, problems } = readScalers(text ?? '', 'document', readOptionsOf(config));
  const [error] = problems.filter(({ severity }) => severity === 'error');
  return scalers[0] ?? error?.message ?? 'the document is invalid';
}

async function compareOne(
  object: ImportedManifest,
  scaler: Scaler,
  input: {
    readonly context: ClusterContext;
    readonly sources: ReadonlyMap<string, SourceContext>;
    readonly answers: Promise<ReadonlyMap<Scaler, readonly Answer[]>>;
  },
): Promise<string> {
  const { context, sources } = input;
  const cluster = await readClusterFacts(context, scaler);
  const { target, pods, others } = cluster;
  const failed = [target, pods, others].find((one) => one instanceof KubernetesError);
  if (failed instanceof KubernetesError) return notCompared(object, failed.message);
  const other =
    others instanceof KubernetesError
      ? null
      : findOtherScaler(scaler.namespace, scaler.spec.scaleTargetRef, others);
  if (other === null) {
    const workload = nameTarget(scaler.namespace, scaler.spec.scaleTargetRef);
    return notCompared(object, `no HPA scales ${workload}`);
  }
  if (other.desiredReplicas === undefined)
    return notCompared(object, `its HPA has no desired replicas: ${other.whyNoCount ?? ''}`);
  const answers = (await input.answers).get(scaler) ?? [];
  const record = await decideOnce({ scaler, cluster, context, sources, answers, sharesTargetWith: null });
  return compared(object, record, { ...other, desiredReplicas: other.desiredReplicas });
}

function compared(
  object: ImportedManifest,
  { decision, conditions }: CycleRecord,
  { desiredReplicas: theirs }: OtherScaler & { readonly desiredReplicas: number },
): string {
  const failing = conditions.find(({ type, status }) => type === 'AbleToScale' && status === 'False');
  if (decision === null) return notCompared(object, failing?.message ?? 'no decision is possible');
  for (const { name, error } of decision.metrics)
    if (error !== null) return notCompared(object, `${name} has no value: ${describeFailure(error)}`);
  const ours = decision.desiredReplicas;
  if (ours === theirs) return lineOf(object, `${countOf(ours, 'replica')}, the same as the HPA`);
  const difference = `${Math.abs(ours - theirs)} ${ours > theirs ? 'more' : 'fewer'} than the HPA (${theirs})`;
  return lineOf(object, `${countOf(ours, 'replica')}, ${difference}: ${decision.reason}`);
}

function notCompared(object: ImportedManifest, why: string): string {
  return lineOf(object, `not compared: ${why}`);
}

function lineOf({ file, label }: ImportedManifest, text: string): string {
  return oneLine(`${file}: ${label}: live: ${text}`);
}
