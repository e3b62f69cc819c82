import type { RequestHandler, Response } from 'express';
import { refuse } from './paced.js';
import { createBackgroundWork } from './background-work.js';
import type { BackgroundWorkOptions } from './background-work.js';

export interface PageQueue {
  /** Renders the page as background work. `page` must respond synchronously. */
  readonly queued: (page: RequestHandler) => RequestHandler;
  /** Calls `send` as background work unless the client has disconnected. For large pages that are already rendered. */
  readonly queue: (response: Response, send: () => void) => void;
}

/** Maximum sum of all responses that clients have not read yet. */
const MOST_UNSENT_BYTES = 32 * 1024 * 1024;

/**
 * Renders pages as background work, and only for clients that are still connected. Otherwise, 256 clients that each
 * request a large list would delay decisions and probes for seconds. Answers 503 while too many bytes are unsent.
 */
export function createPageQueue(options: BackgroundWorkOptions): PageQueue {
  const backgroundWork = createBackgroundWork(options);
  let unsentBytes = 0;

  /** Counts the bytes of a response until all are sent or its connection is closed. */
  const account = (response: Response): void => {
    const bytes = response.writableLength;
    if (bytes === 0 || response.destroyed) return;
    unsentBytes += bytes;
    response.on('close', () => (unsentBytes -= bytes));
  };

  const queue: PageQueue['queue'] = (response, send) => {
    response.on('close', backgroundWork.queue(send));
  };

  return {
    queue,
    queued: (page) => (request, response, next) =>
      queue(response, () => {
        if (unsentBytes >= MOST_UNSENT_BYTES) {
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

const TOO_MUCH = 'too many response bytes wait for slow clients: retry later';
