import type { RequestHandler, Response } from 'express';
import type { Scaler } from '../../scaler/spec.js';
import type { ScalerPoints } from '../../telemetry/chart-points.js';
import { periodicYield, type Clock } from '../../units/clock.js';
import { viewerOf } from '../access/viewer.js';
import { refuse, SLICE_MS } from '../pacing/paced.js';
import { writeHistory } from './views.js';
import { addSeconds, type Instant, multipleBefore, secondsBetween } from '../../units/time.js';
import { BadRequest, type Query, readInteger, readText, readTime } from './query.js';
import { LIMITS } from '../../api/routes.js';

/** Reads the history of a scaler over days, from metrics of this service that Prometheus has scraped. */
export interface LongHistory {
  /** Returns the scaler `NAMESPACE/NAME`, even if another replica decides it; null: there is no such document. */
  readonly find: (key: string) => Scaler | null;
  /** Ends within 10 s. Never rejects. */
  readonly read: (scaler: Scaler, range: LongRange) => Promise<LongAnswer>;
}

/** `why`: a sentence for the client about why there are no points. */
export type LongAnswer = { readonly points: ScalerPoints } | { readonly why: string };

interface LongHistoryParts {
  readonly history: LongHistory;
  readonly clock: Clock;
  /** Returns a page whose response is sent as background work. */
  readonly queued: (page: RequestHandler) => RequestHandler;
  /** Serves the history that is in memory. */
  readonly recent: RequestHandler;
}

/** Serves the history in memory or, for `source=prometheus`, the history in Prometheus. */
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
                await writeHistory(answer.points, range.stepSeconds, periodicYield(clock, SLICE_MS)),
              );
        queued(send)(request, response, next);
      })
      .catch(next);
  };
}

function sending(response: Response, json: string): () => void {
  return () => void response.type('application/json').send(json);
}

/**
 * The times of the points: `start`, `start + stepSeconds` and so on until `end`. They are multiples of the step, and at
 * most 1,000.
 */
export interface LongRange {
  readonly start: Instant;
  readonly end: Instant;
  readonly stepSeconds: number;
}

const DAY_SECONDS = 86_400;
const MOST_DAYS = 90;
/** The default step is a multiple of this, so that charts of slightly different ranges have the same points. */
const STEP_UNIT_SECONDS = 15;

/** Returns whether the history in Prometheus is wanted. Throws `BadRequest` if the source is unknown. */
export function asksPrometheus(query: Query): boolean {
  const source = readText(query, 'source') ?? 'memory';
  if (source === 'memory' || source === 'prometheus') return source === 'prometheus';
  throw new BadRequest('source must be memory or prometheus');
}

/** Reads `since` (default: a day ago), `step` (default: the smallest possible) and `limit`. Throws `BadRequest`. */
export function readLongRange(query: Query, now: Instant): LongRange {
  const since = readTime(query, 'since') ?? addSeconds(now, -DAY_SECONDS);
  const limit = readInteger(query, 'limit', { ...LIMITS.points, standard: null });
  const seconds = secondsBetween(since, now);
  if (seconds < 0) throw new BadRequest('since must not be in the future');
  if (seconds > MOST_DAYS * DAY_SECONDS)
    throw new BadRequest(`since must be within the last ${MOST_DAYS} days with source=prometheus`);
  const least = Math.max(1, Math.ceil(seconds / (LIMITS.points.most - 1)));
  const standard = Math.ceil(least / STEP_UNIT_SECONDS) * STEP_UNIT_SECONDS;
  const stepSeconds = readInteger(query, 'step', { ...LIMITS.step, standard });
  if (limit === null && stepSeconds < least)
    throw new BadRequest(
      `step must be at least ${least} for this value of since: a response has at most ${LIMITS.points.most} points`,
    );
  const end = multipleBefore(now, stepSeconds);
  const whole = Math.floor(secondsBetween(since, end) / stepSeconds);
  if (whole < 0) throw new BadRequest(`since must be at least one step (${stepSeconds} s) ago`);
  const steps = Math.min(whole, (limit ?? LIMITS.points.most) - 1);
  return { start: addSeconds(end, -steps * stepSeconds), end, stepSeconds };
}
