import { realpath } from 'node:fs/promises';
import { sep } from 'node:path';
import {
  readScalerObject,
  SCALER_PLURAL,
  SCALER_ROOT,
  createScalerStore,
  type ScalerObject,
  type ScalerStore,
} from '../../kubernetes/scaler-objects.js';
import { KubernetesError, orError } from '../../kubernetes/api/types.js';
import { listAll, resourceScope } from '../../kubernetes/watch/list-pages.js';
import { withDeadline } from '../../units/clock.js';
import type { ObjectSource } from '../../config/read-objects.js';
import { createScalerFiles } from '../../config/scaler-files.js';
import { asObject } from '../../scaler/plain-json.js';
import { isOfObject } from '../../scaler/problems/problem.js';
import type { ReadDocument } from '../../scaler/read/read-scalers.js';
import { type Scaler, scalerKey } from '../../scaler/spec.js';
import { parseJson } from '../../units/json-bounds.js';
import { readOptionsOf } from '../input/service-config.js';
import { CLUSTER_SUBJECT, type DoctorContext } from './context.js';
import { type CheckResult, resultsOf } from './check-result.js';
import { resultOfProblem } from './config.js';
import { openCluster } from './cluster.js';

const DEADLINE_MS = 10_000;

type ListContext = Omit<DoctorContext, 'scalers'>;

/**
 * Lists the Scaler objects; null: `scalers.customResources` is off. Skips a namespace that cannot be listed, which the
 * check `custom-resources` reports.
 */
export async function listScalerObjects(
  context: ListContext,
  onFailure: (error: KubernetesError) => void = () => undefined,
): Promise<ScalerStore | null> {
  if (!context.config.scalers.customResources) return null;
  const store = createScalerStore(context.config.kubernetes.namespaces);
  const opened = await openCluster({ ...context, scalers: [] });
  if ('status' in opened) return store;
  const { transport } = opened;
  await withDeadline(context.clock, { ms: DEADLINE_MS, parent: context.signal }, async (signal) => {
    for (const scope of store.scopes) {
      const resource = resourceScope(SCALER_ROOT, SCALER_PLURAL, scope.namespace);
      const listed = await orError(() =>
        listAll({ transport, scope: resource, convert: readScalerObject, signal }),
      );
      if (listed instanceof KubernetesError) onFailure(listed);
      else scope.store.replace(listed.items);
    }
  });
  transport.close();
  return store;
}

/** A valid document that is given to `validate`. */
export interface GivenDocument extends ReadDocument {
  readonly scaler: Scaler;
  /** The path of its file; `-`: standard input. */
  readonly absolutePath: string;
}

/**
 * Reads the other documents of the service: its files, and the Scaler objects of all watched namespaces or, if the
 * account cannot list all of them, of the namespaces of the given documents. A cluster without the CRD has no objects.
 * The results contain each given document that the service would reject because another document has the same name.
 * `paths`: the paths of the documents of the service; empty: they are unknown.
 */
export async function readOtherScalers(
  given: readonly GivenDocument[],
  context: ListContext,
  paths: readonly string[],
): Promise<{
  readonly others: readonly Scaler[];
  /** The keys of the given documents in no file of the service whose objects in the cluster are not in dry run. */
  readonly live: ReadonlySet<string>;
  readonly results: readonly CheckResult[];
}> {
  const { config, clock } = context;
  const list = async (namespaces: readonly string[]) => {
    const failures: KubernetesError[] = [];
    const kubernetes = { ...config.kubernetes, namespaces };
    const scalersConfig = { ...config.scalers, customResources: given.length > 0 };
    const narrowed = { ...context, config: { ...config, kubernetes, scalers: scalersConfig } };
    return { objects: await listScalerObjects(narrowed, (failure) => failures.push(failure)), failures };
  };
  const own = new Set(given.map(({ scaler }) => scaler.namespace));
  const { namespaces: watched } = config.kubernetes;
  let { objects, failures } = await list(watched.length === 0 ? [] : [...new Set([...watched, ...own])]);
  if (failures.some(({ kind }) => kind === 'forbidden')) ({ objects, failures } = await list([...own]));
  const results = failures
    .filter(({ kind }) => kind !== 'not_found')
    .map(({ message }) =>
      resultsOf('other-scaler', CLUSTER_SUBJECT).skipped(
        `Scaler objects on the same targets are not detected: ${message}`,
      ),
    );
  if (objects === null) return { others: [], live: new Set(), results };
  const byKey = new Map(given.map((document) => [document.scaler.key, document]));
  const unfiled = await withoutFiles(given, paths);
  const applied = config.scalers.customResources ? unfiled : [];
  const all = [
    ...[...objects.list()].filter((object) => !byKey.has(scalerKey(object))),
    ...applied.map(({ scaler: { namespace, name, document } }) => ({
      namespace,
      name,
      specText: JSON.stringify(document.spec),
    })),
  ];
  const source: ObjectSource = { list: () => all, isComplete: () => true, onChange: () => () => undefined };
  const loaded = await createScalerFiles({
    paths,
    clock,
    read: readOptionsOf(config),
    objects: source,
  }).load();
  const duplicates = loaded.problems.flatMap((problem): readonly CheckResult[] => {
    const document = byKey.get(problem.scaler ?? '');
    if (problem.code !== 'duplicate-document' || document === undefined) return [];
    const { file, place } = document;
    return [resultOfProblem(isOfObject(problem) ? { ...problem, file, place } : problem)];
  });
  const liveObjects = new Set([...objects.list()].filter((object) => !isDryRun(object)).map(scalerKey));
  // A file of the service takes precedence over the object, so the dry run of the file is in effect.
  const live = unfiled.map(({ scaler }) => scaler.key).filter((key) => liveObjects.has(key));
  return {
    others: loaded.scalers.filter(({ key }) => !byKey.has(key)),
    live: new Set(live),
    results: [...duplicates, ...results],
  };
}

function isDryRun({ specText }: ScalerObject): boolean {
  return asObject(parseJson(specText))?.['dryRun'] === true;
}

/**
 * Returns the given documents that are in no file of the service. The service gets them only through `kubectl apply`.
 */
async function withoutFiles(
  given: readonly GivenDocument[],
  paths: readonly string[],
): Promise<readonly GivenDocument[]> {
  const real = await Promise.all(paths.map((path) => realpath(path).catch(() => path)));
  return given.filter(
    ({ absolutePath }) =>
      !real.some((path) => absolutePath === path || absolutePath.startsWith(`${path}${sep}`)),
  );
}
