import type { Passing } from '../processes/proxy.js';
import type { SoakStage } from './stage.js';

/** A fault that begins at once and lasts until `end`. */
export interface SoakFault {
  readonly name: string;
  readonly begin: (stage: SoakStage) => Promise<() => Promise<void>>;
}

const isWatch = ({ query }: Passing): boolean => query.get('watch') === '1';
const isChange = ({ method, path }: Passing): boolean => method === 'PATCH' && path.endsWith('/scale');

/** Builds a fault whose end is a plain function, or nothing. */
function fault(
  name: string,
  begin: (stage: SoakStage) => (() => unknown) | undefined | Promise<(() => unknown) | undefined>,
): SoakFault {
  return {
    name,
    begin: async (stage) => {
      const end = await begin(stage);
      return async () => {
        await end?.();
      };
    },
  };
}

/** After a fault that costs the watched replica its Lease: it must lead again before the next one. */
const KILL_OTHER = fault('other replica killed', (stage) => {
  stage.other().signal('SIGKILL');
  return stage.restartOther;
});

/** One round of faults, which the soak repeats. */
export const FAULTS: readonly SoakFault[] = [
  fault('Prometheus gone, back empty', async (stage) => {
    await stage.stopPrometheus();
    return stage.startPrometheus;
  }),
  fault('API server answers 503', ({ simulator }) =>
    simulator.faults.add({}, { kind: 'refuse', status: 503 }),
  ),
  fault('network to the API server carries nothing', ({ watched }) => watched.api.freeze()),
  KILL_OTHER,
  fault('API server resets all connections', ({ watched, other }) => {
    watched.api.resetAll();
    other().api.resetAll();
    return undefined;
  }),
  fault('watches are half-open', ({ watched }) => void watched.api.abandon(isWatch)),
  fault('answers to changes are lost', ({ watched, other }) => {
    const removals = [watched, other()].map(({ api }) => api.add(isChange, { kind: 'lose-answer' }));
    return () => removals.forEach((remove) => remove());
  }),
  fault('history compacted, watches ended', ({ simulator }) => {
    simulator.compact();
    simulator.watches.close({}, 'destroy');
    return undefined;
  }),
  fault('watched replica stopped (SIGSTOP)', ({ watched }) => {
    watched.signal('SIGSTOP');
    return () => watched.signal('SIGCONT');
  }),
  KILL_OTHER,
  fault('network to Prometheus carries nothing', ({ watched }) => watched.metricsProxy.freeze()),
  fault('Prometheus answers HTML', ({ watched }) =>
    watched.metricsProxy.add(() => true, {
      kind: 'answer',
      status: 200,
      contentType: 'text/html',
      body: '<html>sign in</html>',
    }),
  ),
  fault('Prometheus drips', ({ watched }) =>
    watched.metricsProxy.add(() => true, { kind: 'drip', bytesPerSecond: 20 }),
  ),
  fault('documents rewritten', (stage) => stage.rewriteDocuments().then(() => undefined)),
  fault('100 readers of events come and go', async ({ watched }) => {
    const readers = Array.from({ length: 100 }, () => new AbortController());
    const streams = readers.map(({ signal }) =>
      fetch(`${watched.url}/api/v1/events`, { signal }).then(
        () => undefined,
        () => undefined,
      ),
    );
    await Promise.all(streams);
    return () => readers.forEach((reader) => reader.abort());
  }),
];
