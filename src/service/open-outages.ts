import type { RequestReport } from '../kubernetes/requests/transport.js';
import type { SourceConfig } from '../prometheus/data-source/source-config.js';
import type { QueryReport } from '../prometheus/source/queue.js';
import { API_SERVER, createOutages, dataSourceId, type Outages } from '../telemetry/outages.js';
import type { Clock } from '../units/clock.js';
import { isServerFailure } from '../units/failure.js';
import type { Log } from '../units/log.js';

interface OpenOutages extends Outages {
  readonly observeQuery: (report: QueryReport) => void;
  readonly observeRequest: (report: RequestReport) => void;
}

/** Returns the outages of the data sources and of the API server, which are detected by the results of requests. */
export function openOutages(sources: ReadonlyMap<string, SourceConfig>, clock: Clock, log: Log): OpenOutages {
  const outages = createOutages(
    [
      { id: API_SERVER, kind: API_SERVER, facts: {} },
      ...[...sources].map(([source, { urls }]) => ({
        id: dataSourceId(source),
        kind: 'data source',
        facts: { source, urls },
      })),
    ],
    clock,
    log,
  );
  return {
    ...outages,
    // If the server rejects a query, it has answered. A canceled query shows nothing.
    observeQuery: ({ source, seconds, failure }) => {
      if (failure?.reason === 'canceled') return;
      const message = failure !== null && isServerFailure(failure.reason) ? failure.message : null;
      outages.observe({ system: dataSourceId(source), seconds, failure: message });
    },
    // If the server sends a 4xx, it has answered. Only 429 counts as a failure.
    observeRequest: ({ verb, resource, code, seconds }) => {
      if (code === 'canceled') return;
      const isFailure = code === '429' || code.startsWith('5') || !/^\d/.test(code);
      outages.observe({
        system: API_SERVER,
        seconds,
        failure: isFailure ? `${verb} ${resource}: ${code}` : null,
      });
    },
  };
}

interface ClockWarnings {
  /** Logs that the wall clock of this host was set by `seconds`; positive: forward. */
  readonly wallClockSet: (seconds: number) => void;
  /** Logs that the clock of a data source is ahead of the clock of this host by `seconds`; negative: behind. */
  readonly sourceClockAhead: (source: string, seconds: number) => void;
}

/**
 * Difference of clocks that is logged. It is larger than the delay of a response. Above 120 s, samples are partial and
 * scale nothing down (prometheus/samples.ts).
 */
const WARN_SECONDS = 30;

/**
 * Returns warnings that are logged once when the clock of a data source begins to differ, and once when it no longer
 * does.
 */
export function createClockWarnings(log: Log): ClockWarnings {
  const differing = new Set<string>();
  return {
    wallClockSet: (seconds) =>
      log.warn('wall clock was set; windows keep their remaining time', { seconds: Math.round(seconds) }),
    sourceClockAhead: (source, seconds) => {
      const differs = Math.abs(seconds) > WARN_SECONDS;
      if (differs === differing.has(source)) return;
      if (!differs) {
        differing.delete(source);
        log.info('clock of data source is in sync again', { source });
        return;
      }
      differing.add(source);
      log.warn('clock of data source differs; a difference of more than 120 s prevents scale-down', {
        source,
        aheadSeconds: Math.round(seconds),
      });
    },
  };
}
