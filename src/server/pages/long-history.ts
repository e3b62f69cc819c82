import type { RequestHandler, Response } from 'express';
import type { Scaler } from '../../scaler/spec.js';
import type { ScalerPoints } from '../../telemetry/chart-points.js';
import { takeTurns } from '../../units/clock.js';
import type { Clock } from '../../units/clock.js';
import { viewerOf } from '../access/viewer.js';
import { refuse } from '../pacing/refuse.js';
import { asksPrometheus, readLongRange } from './long-range.js';
import type { LongRange } from './long-range.js';
import { SLICE_MS } from '../pacing/paced.js';
import { writeHistory } from './views.js';

/** The history of a scaler over days, from metrics of this service that Prometheus has scraped. */
export interface LongHistory {
  /** Returns the scaler `NAMESPACE/NAME`, including scalers of other replicas; null: there is no such document. */
  readonly find: (key: string) => Scaler | null;
  /** Never rejects. Ends within 10 s. */
  readonly read: (scaler: Scaler, range: LongRange) => Promise<LongAnswer>;
}

/** `why`: a sentence for the client. */
export type LongAnswer = { readonly points: ScalerPoints } | { readonly why: string };

interface LongHistoryParts {
  readonly history: LongHistory;
  readonly clock: Clock;
  /** Sends a response as background work. */
  readonly queued: (page: RequestHandler) => RequestHandler;
  /** Serves the history in memory. */
  readonly recent: RequestHandler;
}

/** Serves the history from memory or, with `source=prometheus`, from Prometheus. */
export function showAnyHistory(parts: LongHistoryParts): RequestHandler {
  const { history, clock, queued, recent } = parts;
  return (request, response, next) => {
    if (!asksPrometheus(request.query)) {
      recent(request, response, next);
      return;
    }
    const range = readLongRange(request.query, clock.now());
    const namespace = String(request.params['namespace']);
    const key = `${namespace}/${String(request.params['name'])}`;
    const scaler = viewerOf(request).sees(namespace) ? history.find(key) : null;
    if (scaler === null) {
      response.status(404).json({ error: `there is no scaler ${key}` });
      return;
    }
    history
      .read(scaler, range)
      .then(async (answer) => {
        const send =
          'why' in answer
            ? () => refuse(response, answer.why)
            : sending(
                response,
                await writeHistory(answer.points, range.stepSeconds, takeTurns(clock, SLICE_MS)),
              );
        queued(send)(request, response, next);
      })
      .catch(next);
  };
}

function sending(response: Response, json: string): () => void {
  return () => void response.type('application/json').send(json);
}
