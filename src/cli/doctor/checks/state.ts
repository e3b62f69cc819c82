import { mayI } from '../../../kubernetes/access-review.js';
import { readEntry } from '../../../kubernetes/state/state-entry.js';
import { configMapName, entryKey, STATE_BUCKETS } from '../../../kubernetes/state/state-key.js';
import { readStateMap, type StateMap } from '../../../kubernetes/state/state-config-map.js';
import { KubernetesError } from '../../../kubernetes/api/types.js';
import { type CheckResult, type ResultBuilder, resultsOf } from '../report/check-result.js';
import { CLUSTER_SUBJECT, type ClusterContext } from '../context/context.js';
import { listSome } from '../../output/list-some.js';
import { orError } from '../context/or-error.js';

const DEGRADED = 'their scalers can scale up but not down';
const PERMISSIONS_FIX = 'chart values rbac.create: true and state.enabled: true';

interface ReadConfigMap {
  readonly name: string;
  readonly map: StateMap | KubernetesError;
}

/** Checks that the ConfigMaps exist, that the account may patch them, and that their entries are valid. */
export async function checkState(context: ClusterContext): Promise<readonly CheckResult[]> {
  const { transport, own } = context;
  if (!own.keepsState) return [];
  const make = resultsOf('state', CLUSTER_SUBJECT);
  const names = Array.from({ length: STATE_BUCKETS }, (_, bucket) => configMapName(bucket));
  const access = { transport, namespace: own.namespace };
  const read = await Promise.all(
    names.map(async (name): Promise<ReadConfigMap> => ({
      name,
      map: await orError(() => readStateMap({ ...access, name })),
    })),
  );
  const results = [
    ...judgeReads(read, own.namespace, make),
    ...(await judgeWrites(read, context, make)),
    ...judgeEntries(read, context, make),
  ];
  const summary = `state in ${STATE_BUCKETS} ConfigMaps in namespace ${own.namespace}`;
  return results.length === 0 ? [make.ok(summary)] : results;
}

/** Returns one result per reason, because sixteen missing ConfigMaps are one mistake. */
function judgeReads(
  read: readonly ReadConfigMap[],
  namespace: string,
  make: ResultBuilder,
): readonly CheckResult[] {
  const failed = read.flatMap(({ name, map }) =>
    map instanceof KubernetesError ? [{ name, error: map }] : [],
  );
  const [missing, forbidden, others] = [
    failed.filter(({ error }) => error.kind === 'not_found'),
    failed.filter(({ error }) => error.kind === 'forbidden'),
    failed.filter(({ error }) => error.kind !== 'not_found' && error.kind !== 'forbidden'),
  ].map((group) => ({ group, names: listSome(group.map(({ name }) => name)) }));
  const results: CheckResult[] = [];
  if (missing !== undefined && missing.group.length > 0)
    results.push(
      make.failed(
        `namespace ${namespace} has no ConfigMap ${missing.names}: ${DEGRADED}`,
        `chart value state.enabled: true, or ${createLine(
          missing.group.map(({ name }) => name),
          namespace,
        )}`,
      ),
    );
  if (forbidden !== undefined && forbidden.group.length > 0)
    results.push(
      make.failed(
        `the account may not get ConfigMap ${forbidden.names} in namespace ${namespace}: ${DEGRADED}`,
        PERMISSIONS_FIX,
      ),
    );
  const [first] = others?.group ?? [];
  if (others !== undefined && first !== undefined)
    results.push(
      make.failed(
        `ConfigMap ${others.names} cannot be read: ${first.error.message}`,
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

/** Unreadable ConfigMaps are already reported. */
async function judgeWrites(
  read: readonly ReadConfigMap[],
  { transport, signal, own: { namespace } }: ClusterContext,
  make: ResultBuilder,
): Promise<readonly CheckResult[]> {
  const names = read.filter(({ map }) => !(map instanceof KubernetesError)).map(({ name }) => name);
  const question = { verb: 'patch', group: '', resource: 'configmaps', subresource: '', namespace };
  const allowed = await orError(() =>
    Promise.all(names.map((name) => mayI(transport, { ...question, name }, signal))),
  );
  if (allowed instanceof KubernetesError)
    return [make.skipped(`permissions cannot be reviewed: ${allowed.message}`)];
  const denied = names.filter((_, index) => allowed[index] === false);
  if (denied.length === 0) return [];
  const what = `patch ConfigMap ${listSome(denied)} in namespace ${namespace}`;
  return [make.failed(`the account may not ${what}: ${DEGRADED}`, PERMISSIONS_FIX)];
}

function judgeEntries(
  read: readonly ReadConfigMap[],
  { scalers, own: { namespace } }: ClusterContext,
  make: ResultBuilder,
): readonly CheckResult[] {
  const keys = new Set(scalers.map(entryKey));
  return read.flatMap(({ name, map }) => {
    if (map instanceof KubernetesError) return [];
    return Object.entries(map.data).flatMap(([key, text]) => {
      const entry = readEntry(text);
      if (!('problem' in entry)) return [];
      const message = `the entry ${key} of ConfigMap ${name} is invalid: ${entry.problem}`;
      const patch = JSON.stringify({ data: { [key]: null } });
      const fix = `kubectl patch configmap ${name} -n ${namespace} --type merge -p '${patch}' removes it, and the windows of ${key.replace('.', '/')} restart`;
      return keys.has(key)
        ? [make.failed(`${message}; its scaler can scale up but not down`, fix)]
        : [make.warning(message, fix)];
    });
  });
}
