import { packBody } from './traffic.js';
import { deploymentJson, podJson } from './objects.js';
import type { FakeDeployment, FakePod } from './objects.js';
import type { WatchedPlural, Simulation } from './simulation.js';

/** A page of a list; `packed` by gzip if that pays, as the API server does above 128 KiB. */
export interface ListPage {
  readonly plain: string;
  readonly packed: Buffer | null;
}

export interface ListServer {
  readonly page: (
    plural: WatchedPlural,
    query: { readonly namespace: string | null; readonly limit: number; readonly from: string | null },
  ) => ListPage;
}

const PACKED_FROM_BYTES = 128 * 1024;
const ANY_KIND = { pods: 'PodList', deployments: 'DeploymentList' } as const;

interface Snapshot {
  readonly version: number;
  readonly items: readonly (FakeDeployment | { readonly owner: FakeDeployment; readonly pod: FakePod })[];
}

/** Pages are kept until the next change: a service lists everything once, at its start. */
export function createListServer(simulation: Simulation): ListServer {
  const snapshots = new Map<string, Snapshot>();
  const kept = new Map<string, ListPage>();
  let keptVersion = 0;

  const snapshotOf = (plural: WatchedPlural, namespace: string | null): Snapshot => {
    const owners = (namespace === null ? simulation.namespaces : [namespace]).flatMap((name) => [
      ...(simulation.deployments.get(name)?.values() ?? []),
    ]);
    const items =
      plural === 'deployments'
        ? owners
        : owners.flatMap((owner) => Array.from(owner.pods.values(), (pod) => ({ owner, pod })));
    return { version: simulation.version(), items };
  };

  return {
    page: (plural, { namespace, limit, from }) => {
      const [version = String(simulation.version()), start = '0'] = from?.split(':') ?? [];
      if (keptVersion !== simulation.version()) kept.clear();
      keptVersion = simulation.version();
      const scope = `${plural} ${namespace ?? ''} ${version}`;
      const key = `${scope} ${start} ${limit}`;
      const known = kept.get(key);
      if (known !== undefined) return known;
      const snapshot = snapshots.get(scope) ?? snapshotOf(plural, namespace);
      snapshots.set(scope, snapshot);
      const first = Number(start);
      const items = snapshot.items.slice(first, limit > 0 ? first + limit : undefined);
      const left = snapshot.items.length - first - items.length;
      const more = left === 0 ? '' : `,"continue":"${version}:${first + limit}","remainingItemCount":${left}`;
      if (left === 0) snapshots.delete(scope);
      const texts = items.map((item) =>
        'pod' in item ? podJson(item.owner, item.pod) : deploymentJson(item),
      );
      const api = plural === 'pods' ? 'v1' : 'apps/v1';
      const plain = `{"kind":"${ANY_KIND[plural]}","apiVersion":"${api}","metadata":{"resourceVersion":"${snapshot.version}"${more}},"items":[${texts.join(',')}]}`;
      const page = { plain, packed: plain.length >= PACKED_FROM_BYTES ? packBody(plain) : null };
      kept.set(key, page.packed === null ? page : { plain: '', packed: page.packed });
      return page;
    },
  };
}

/** More namespaces are listed by the service as a whole. */
const MAX_NAMESPACES = 20;
const PAGE = 500;

/** Builds the pages of the first lists, so that their cost does not delay the service. */
export function prepareLists(simulation: Simulation, lists: ListServer): void {
  const { namespaces } = simulation;
  for (const namespace of namespaces.length > MAX_NAMESPACES ? [null] : namespaces) {
    for (const plural of ['pods', 'deployments'] as const) {
      let from: string | null = null;
      const perWorkload = plural === 'pods' ? simulation.size.pods : 1;
      const workloads =
        namespace === null ? simulation.size.scalers : (simulation.deployments.get(namespace)?.size ?? 0);
      for (let first = 0; first < workloads * perWorkload; first += PAGE) {
        lists.page(plural, { namespace, limit: PAGE, from });
        from = `${simulation.version()}:${first + PAGE}`;
      }
    }
  }
}
