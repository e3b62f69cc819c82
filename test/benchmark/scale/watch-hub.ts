import type { ServerResponse } from 'node:http';
import type { WatchedPlural, Simulation } from './simulation.js';
import type { SimulationClock } from './simulation-clock.js';

export interface WatchHub {
  readonly open: (
    response: ServerResponse,
    watch: {
      /** Another plural has no events: its watch has bookmarks only. */
      readonly plural: string;
      readonly namespace: string | null;
      readonly version: number;
      readonly timeoutSeconds: number;
    },
  ) => void;
}

const BOOKMARK_MS = 60_000;
const KINDS: Readonly<Record<string, string>> = {
  pods: '"kind":"Pod","apiVersion":"v1"',
  deployments: '"kind":"Deployment","apiVersion":"apps/v1"',
  horizontalpodautoscalers: '"kind":"HorizontalPodAutoscaler","apiVersion":"autoscaling/v2"',
};

/** Sends events as they happen and a bookmark a minute; ends a watch at its `timeoutSeconds`, never earlier. */
export function createWatchHub(simulation: Simulation, clock: SimulationClock): WatchHub {
  interface Watcher {
    readonly plural: string;
    readonly namespace: string | null;
    readonly send: (type: string, json: string) => void;
  }
  const watchers = new Set<Watcher>();
  const isWanted = (
    { plural, namespace }: Pick<Watcher, 'plural' | 'namespace'>,
    event: { readonly plural: WatchedPlural; readonly namespace: string },
  ): boolean => event.plural === plural && (namespace === null || event.namespace === namespace);
  simulation.onEvent((event) => {
    for (const watcher of watchers) if (isWanted(watcher, event)) watcher.send(event.type, event.json);
  });

  return {
    open: (response, { plural, namespace, version, timeoutSeconds }) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.flushHeaders();
      const kind = KINDS[plural] ?? '"kind":"Object"';
      const send = (type: string, json: string): void =>
        void response.write(`{"type":"${type}","object":{${kind},${json.slice(1)}}\n`);
      const watcher = { plural, namespace, send };
      for (const event of simulation.eventsAfter(version))
        if (isWanted(watcher, event)) send(event.type, event.json);
      watchers.add(watcher);
      let isOpen = true;
      const stop = (): void => {
        isOpen = false;
        watchers.delete(watcher);
      };
      response.once('close', stop);
      const bookmark = (): void => {
        if (!isOpen) return;
        send('BOOKMARK', `{"metadata":{"resourceVersion":"${simulation.version()}"}}`);
        clock.after(BOOKMARK_MS, bookmark);
      };
      clock.after(BOOKMARK_MS, bookmark);
      clock.after(timeoutSeconds * 1000, () => {
        if (!isOpen) return;
        stop();
        response.end();
      });
    },
  };
}
