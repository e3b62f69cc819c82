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

/** Returns the outages of the data sources and the API server, as detected from reports of requests. */
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
    // A rejected query is an answer. A canceled one shows nothing.
    observeQuery: ({ source, seconds, failure }) => {
      if (failure?.reason === 'canceled') return;
      const message = failure !== null && isServerFailure(failure.reason) ? failure.message : null;
      outages.observe({ system: dataSourceId(source), seconds, failure: message });
    },
    // A 4xx is an answer, apart from 429.
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
  /** Seconds by which the wall clock of this host was set forward; negative: back. */
  readonly wallClockSet: (seconds: number) => void;
  /** Seconds by which the clock of a data source is ahead of the clock of this host; negative: behind. */
  readonly sourceClockAhead: (source: string, seconds: number) => void;
}

/**
 * Larger than the delay of a response. Above 120 s, samples are partial and scale nothing down (prometheus/samples.ts).
 */
const WARN_SECONDS = 30;

/** Logs once when the clock of a data source starts to differ, and once when it is in sync again. */
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
