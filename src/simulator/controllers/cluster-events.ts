import type { ClusterState } from '../objects/cluster-state.js';
import { type KubeObject, asKubeObject, makeUid, timestamp } from '../objects/kube-object.js';

const EVENTS = '/events';
/** Above this number the oldest events are removed; a real server removes them after an hour. */
const MOST_EVENTS = 5000;

export function recordEvent(
  { store, random }: ClusterState,
  about: KubeObject,
  event: {
    readonly reason: string;
    readonly message: string;
    readonly component: string;
    readonly nowMs: number;
  },
): void {
  const { name, namespace, uid, resourceVersion } = about.metadata;
  const { reason, message, component } = event;
  const at = timestamp(event.nowMs);
  store.put(
    EVENTS,
    asKubeObject({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: {
        name: `${name}.${makeUid(random).slice(0, 8)}${makeUid(random).slice(0, 8)}`,
        namespace: namespace ?? 'default',
        uid: makeUid(random),
        resourceVersion: '',
        creationTimestamp: at,
      },
      involvedObject: {
        apiVersion: about.apiVersion,
        kind: about.kind,
        name,
        namespace,
        uid,
        resourceVersion,
      },
      reason,
      message,
      type: 'Normal',
      source: { component },
      reportingComponent: component,
      reportingInstance: '',
      firstTimestamp: at,
      lastTimestamp: at,
      count: 1,
      eventTime: null,
    }),
  );
  if (store.count(EVENTS) <= MOST_EVENTS) return;
  for (const oldest of store.all(EVENTS)) {
    store.remove(EVENTS, oldest.metadata.namespace ?? null, oldest.metadata.name);
    break;
  }
}
