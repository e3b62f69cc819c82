import { kubectl } from '../../decision/snippet.js';
import { readEntry } from '../../kubernetes/state/state-entry.js';
import { ALL_BUCKETS, configMapName, entryKey, STATE_BUCKETS } from '../../kubernetes/state/state-key.js';
import { readStateMap, type StateMap } from '../../kubernetes/state/state-config-map.js';
import { KubernetesError, orError } from '../../kubernetes/api/types.js';
import type { CheckResult, CheckResults, Checked } from './check-result.js';
import type { ClusterContext } from './context.js';
import { reviewPermissions } from './permissions.js';
import { permissionsBy } from '../../service/permissions.js';
import { listSome } from '../../units/format.js';

const DEGRADED = 'the scalers whose state is stored there can scale up but not down';

interface ReadConfigMap {
  readonly name: string;
  readonly map: StateMap | KubernetesError;
}

/** Checks that the ConfigMaps exist, that the account may patch them, and that their contents are valid. */
export async function checkState(context: Checked<ClusterContext>): Promise<CheckResults> {
  const { transport, own, make } = context;
  if (!own.keepsState) return [];
  const names = ALL_BUCKETS.map(configMapName);
  const access = { transport, namespace: own.namespace };
  const read = await Promise.all(
    names.map(async (name): Promise<ReadConfigMap> => ({
      name,
      map: await orError(() => readStateMap({ ...access, name })),
    })),
  );
  const results = [
    ...judgeReads(read, context),
    ...(await reviewPermissions(permissionsBy(['state.enabled']), [own.namespace], context)),
    ...judgeEntries(read, context),
  ];
  const summary = `the state is in ${STATE_BUCKETS} ConfigMaps in namespace ${own.namespace}`;
  return results.length === 0 ? make.ok(summary) : results;
}

/**
 * Returns one result for each reason, because sixteen missing ConfigMaps are a single mistake. Forbidden reads are
 * reported by `permissions`.
 */
function judgeReads(
  read: readonly ReadConfigMap[],
  { own: { namespace }, make }: Checked<ClusterContext>,
): readonly CheckResult[] {
  const failed = read.flatMap(({ name, map }) =>
    map instanceof KubernetesError ? [{ name, kind: map.kind, message: map.message }] : [],
  );
  const missing = failed.flatMap(({ name, kind }) => (kind === 'not_found' ? [name] : []));
  const others = failed.filter(({ kind }) => kind !== 'not_found' && kind !== 'forbidden');
  const results: CheckResult[] = [];
  if (missing.length > 0)
    results.push(
      make.failed(
        `namespace ${namespace} has no ConfigMap ${listSome(missing)}: ${DEGRADED}`,
        `set the chart value state.enabled: true, or run: ${createLine(missing, namespace)}`,
      ),
    );
  const [first] = others;
  if (first !== undefined)
    results.push(
      make.failed(
        `ConfigMap ${listSome(others.map(({ name }) => name))} cannot be read: ${first.message}`,
        `kubectl get configmap ${first.name} -n ${namespace}`,
      ),
    );
  return results;
}

function createLine(names: readonly string[], namespace: string): string {
  const numbers = names.map((name) => name.slice(name.lastIndexOf('-') + 1));
  const list = names.length === STATE_BUCKETS ? `$(seq -w 0 ${STATE_BUCKETS - 1})` : numbers.join(' ');
  return `for i in ${list}; do kubectl create configmap promscaler-state-$i -n ${namespace}; done`;
}

function judgeEntries(
  read: readonly ReadConfigMap[],
  { scalers, own: { namespace }, make }: Checked<ClusterContext>,
): readonly CheckResult[] {
  const keys = new Set(scalers.map(entryKey));
  return read.flatMap(({ name, map }) => {
    if (map instanceof KubernetesError) return [];
    return Object.entries(map.data).flatMap(([key, text]) => {
      const entry = readEntry(text);
      if (!('problem' in entry)) return [];
      const message = `the entry ${key} of ConfigMap ${name} is invalid: ${entry.problem}`;
      const patch = JSON.stringify({ data: { [key]: null } });
      const removal = kubectl(namespace, 'patch', 'configmap', name, '--type=merge', '-p', patch).text;
      const fix = `${removal} removes the entry, and the windows of ${key.replace('.', '/')} restart`;
      return keys.has(key)
        ? make.failed(`${message}; the scaler of this entry can scale up but not down`, fix)
        : make.warning(message, fix);
    });
  });
}
