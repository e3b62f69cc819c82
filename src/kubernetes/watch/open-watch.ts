import { nameScope, type ResourceScope } from './list-pages.js';
import type { Transport, WatchStream } from '../requests/transport.js';

const WATCH_START_DEADLINE_MS = 30_000;

export interface WatchRequest {
  readonly version: string;
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
}

/** Opens a watch with bookmarks. Throws `KubernetesError`. Source: reliability.md, K7. */
export function openResourceWatch(
  transport: Transport,
  scope: ResourceScope,
  { version, timeoutSeconds, signal }: WatchRequest,
): Promise<WatchStream> {
  return transport.openWatch({
    lane: 'watch',
    method: 'GET',
    path: scope.path,
    query: {
      watch: '1',
      resourceVersion: version,
      allowWatchBookmarks: 'true',
      timeoutSeconds: String(timeoutSeconds),
    },
    doing: `watching ${nameScope(scope)}`,
    verb: 'watch',
    resource: scope.plural,
    deadlineMs: WATCH_START_DEADLINE_MS,
    signal,
  });
}
