import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApiContext } from './context.js';
import type { FaultPlan } from './faults.js';
import type { Sent } from './handle.js';
import type { RequestLog } from './request-log.js';
import type { ResourceRequest } from './request.js';
import type { Rbac } from './rules.js';
import type { Watches } from './watch.js';

export interface ApiParts {
  readonly context: ApiContext;
  readonly rbac: () => Rbac;
  readonly faults: FaultPlan;
  readonly log: RequestLog;
  readonly watches: Watches;
  /** Registers the cancellation of a timer, called when the simulator closes. */
  readonly onClose: (stop: () => void) => void;
}

/** A request and its response. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly address: URL;
  readonly authorization: string | undefined;
  readonly sent: Sent;
  /** Null if the path is not that of a resource. */
  readonly parsed: ResourceRequest | null;
  readonly arrived: Pick<Parameters<RequestLog['add']>[0], 'at' | 'monotonicMs'>;
}
