import type { RequestHandler, Response } from 'express';
import { createSpareTime } from './spare-time.js';
import type { SpareTimeOptions } from './spare-time.js';

export interface PageTurns {
  /** Renders the page when its turn comes. It must answer synchronously. */
  readonly inTurn: (page: RequestHandler) => RequestHandler;
  /** Calls `send` when its turn comes, unless the client has left: for a large page that is already rendered. */
  readonly queue: (response: Response, send: () => void) => void;
}

export interface PageTurnOptions extends SpareTimeOptions {
  /** Sum over all answers that clients have not read yet; default 32 MiB. */
  readonly mostUnsentBytes?: number;
}

const MOST_UNSENT_BYTES = 32 * 1024 * 1024;

/**
 * 256 clients that each request a large list would delay decisions and probes for seconds, so pages are rendered in
 * spare time, and not at all if the client has left. While too many bytes are unsent, the answer is 503.
 */
export function createPageTurns(options: PageTurnOptions): PageTurns {
  const { mostUnsentBytes = MOST_UNSENT_BYTES } = options;
  const spareTime = createSpareTime(options);
  let unsentBytes = 0;

  /** Counts the bytes of an answer until its connection has taken them all or is closed. */
  const account = (response: Response): void => {
    const bytes = response.writableLength;
    if (bytes === 0 || response.destroyed) return;
    unsentBytes += bytes;
    response.on('close', () => (unsentBytes -= bytes));
  };

  const queue: PageTurns['queue'] = (response, send) => {
    response.on('close', spareTime.queue(send));
  };

  return {
    queue,
    inTurn: (page) => (request, response, next) =>
      queue(response, () => {
        if (unsentBytes >= mostUnsentBytes) {
          refuse(response, TOO_MUCH);
          return;
        }
        try {
          void page(request, response, next);
          account(response);
        } catch (error) {
          next(error);
        }
      }),
  };
}

const TOO_MUCH = 'too many bytes of answers are unread by clients: retry later';

/** Answers 503; the client may retry. */
export function refuse(response: Response, error: string): void {
  response.set('Retry-After', '1').status(503).json({ error });
}
