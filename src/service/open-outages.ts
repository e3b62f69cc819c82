import type { RequestReport } from '../kubernetes/requests/transport.js';
import { isServerFailure } from '../prometheus/answers/answer.js';
import type { QueryReport } from '../prometheus/source/queue.js';
import type { SourceConfig } from '../prometheus/data-source/source-config.js';

import { API_SERVER, createOutages, dataSourceId, type Outages } from '../telemetry/outages.js';
import type { Clock } from '../units/clock.js';
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
    // A rejected query is an answer. A canceled one says nothing.
    observeQuery: ({ source, seconds, reason, message }) => {
      if (reason === 'canceled') return;
      const failure = reason !== null && isServerFailure(reason) ? (message ?? reason) : null;
      outages.observe({ system: dataSourceId(source), seconds, failure });
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
