import { mayI } from '../../../kubernetes/access-review.js';
import { readEntry } from '../../../kubernetes/state/state-entry.js';
import { configMapName, entryKey, STATE_BUCKETS } from '../../../kubernetes/state/state-key.js';
import { readStateMap, type StateMap } from '../../../kubernetes/state/state-config-map.js';
import { KubernetesError } from '../../../kubernetes/types.js';
import { type Finding, type FindingMaker, findingsOf } from '../finding.js';
import { CLUSTER_SUBJECT, type ClusterInquiry, listSome } from '../inquiry.js';
import { orError } from '../or-error.js';

const DEGRADED = 'their scalers go up within their window and never down';
const MEND_RIGHTS = 'chart values rbac.create: true and state.enabled: true';

/** One of the ConfigMaps, and what came of reading it. */
interface Looked {
  readonly name: string;
  readonly map: StateMap | KubernetesError;
}

/** Whether what must outlive a restart can be kept: the ConfigMaps, the rights on them, and what is in them. */
export async function checkState(inquiry: ClusterInquiry): Promise<readonly Finding[]> {
  const { transport, own } = inquiry;
  if (!own.keepsState) return [];
  const make = findingsOf('state', CLUSTER_SUBJECT);
  const names = Array.from({ length: STATE_BUCKETS }, (_, bucket) => configMapName(bucket));
  const place = { transport, namespace: own.namespace };
  const looked = await Promise.all(
    names.map(async (name): Promise<Looked> => ({
      name,
      map: await orError(() => readStateMap({ ...place, name })),
    })),
  );
  const findings = [
    ...judgeUnread(looked, own.namespace, make),
    ...(await judgeWrites(looked, inquiry, make)),
    ...judgeEntries(looked, inquiry, make),
  ];
  const well = `state in ${STATE_BUCKETS} ConfigMaps of namespace ${own.namespace}`;
  return findings.length === 0 ? [make.ok(well)] : findings;
}

/** One finding for each reason: sixteen ConfigMaps that are not there are one mistake. */
function judgeUnread(looked: readonly Looked[], namespace: string, make: FindingMaker): readonly Finding[] {
  const failed = looked.flatMap(({ name, map }) =>
    map instanceof KubernetesError ? [{ name, error: map }] : [],
  );
  const [missing, forbidden, others] = [
    failed.filter(({ error }) => error.kind === 'not_found'),
    failed.filter(({ error }) => error.kind === 'forbidden'),
    failed.filter(({ error }) => error.kind !== 'not_found' && error.kind !== 'forbidden'),
  ].map((group) => ({ group, names: listSome(group.map(({ name }) => name)) }));
  const findings: Finding[] = [];
  if (missing !== undefined && missing.group.length > 0)
    findings.push(
      make.failed(
        `namespace ${namespace} has no ConfigMap ${missing.names}: ${DEGRADED}`,
        `chart value state.enabled: true, or ${createLine(
          missing.group.map(({ name }) => name),
          namespace,
        )}`,
      ),
    );
  if (forbidden !== undefined && forbidden.group.length > 0)
    findings.push(
      make.failed(
        `this account may not get ConfigMap ${forbidden.names} of namespace ${namespace}: ${DEGRADED}`,
        MEND_RIGHTS,
      ),
    );
  const [first] = others?.group ?? [];
  if (others !== undefined && first !== undefined)
    findings.push(
      make.failed(
        `ConfigMap ${others.names} cannot be read: ${first.error.message}`,
        `kubectl get configmap ${first.name} -n ${namespace}`,
      ),
    );
  return findings;
}

function createLine(names: readonly string[], namespace: string): string {
  const numbers = names.map((name) => name.slice(name.lastIndexOf('-') + 1));
  const list = names.length === STATE_BUCKETS ? `$(seq -w 0 ${STATE_BUCKETS - 1})` : numbers.join(' ');
  return `for i in ${list}; do kubectl create configmap promscaler-state-$i -n ${namespace}; done`;
}

/** Of those that can be read: what can't is a finding already. */
async function judgeWrites(
  looked: readonly Looked[],
  { transport, signal, own: { namespace } }: ClusterInquiry,
  make: FindingMaker,
): Promise<readonly Finding[]> {
  const names = looked.filter(({ map }) => !(map instanceof KubernetesError)).map(({ name }) => name);
  const question = { verb: 'patch', group: '', resource: 'configmaps', subresource: '', namespace };
  const allowed = await orError(() =>
    Promise.all(names.map((name) => mayI(transport, { ...question, name }, signal))),
  );
  if (allowed instanceof KubernetesError)
    return [make.skipped(`permissions cannot be asked for: ${allowed.message}`)];
  const denied = names.filter((_, index) => allowed[index] === false);
  if (denied.length === 0) return [];
  const what = `patch ConfigMap ${listSome(denied)} of namespace ${namespace}`;
  return [make.failed(`this account may not ${what}: ${DEGRADED}`, MEND_RIGHTS)];
}

/** What is wrong with an entry matters to its scaler alone, and to none where that is gone. */
function judgeEntries(
  looked: readonly Looked[],
  { scalers, own: { namespace } }: ClusterInquiry,
  make: FindingMaker,
): readonly Finding[] {
  const keys = new Set(scalers.map(entryKey));
  return looked.flatMap(({ name, map }) => {
    if (map instanceof KubernetesError) return [];
    return Object.entries(map.data).flatMap(([key, text]) => {
      const entry = readEntry(text);
      if (!('problem' in entry)) return [];
      const message = `the entry ${key} of ConfigMap ${name} cannot be used: ${entry.problem}`;
      const patch = JSON.stringify({ data: { [key]: null } });
      const mend = `kubectl patch configmap ${name} -n ${namespace} --type merge -p '${patch}' removes it, and the windows of ${key.replace('.', '/')} begin anew`;
      return keys.has(key)
        ? [make.failed(`${message}; its scaler goes up within its window and never down`, mend)]
        : [make.warning(message, mend)];
    });
  });
}
