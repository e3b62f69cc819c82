import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FaultPlan } from './requests/faults.js';
import type { Sent } from './handle.js';
import type { RequestLog } from './requests/request-log.js';
import type { ResourceRequest, ApiContext } from './requests/request.js';
import type { Rbac } from './requests/rules.js';
import type { Watches } from './reads/watch.js';

export interface ApiParts {
  readonly context: ApiContext;
  readonly rbac: () => Rbac;
  readonly faults: FaultPlan;
  readonly log: RequestLog;
  readonly watches: Watches;
  /** Registers a function that the simulator calls when it closes, for example to cancel a timer. */
  readonly onClose: (stop: () => void) => void;
}

/** A request to the API, which arrives over HTTP or as a call in the same process. */
export interface ApiRequest {
  readonly method: string;
  readonly address: URL;
  /** The `Host` header; empty: the request has none. */
  readonly host: string;
  readonly authorization: string | undefined;
  readonly sent: Sent;
  /**
   * The request for a resource; null: the path is not the path of a resource, for example because it is a discovery
   * path.
   */
  readonly parsed: ResourceRequest | null;
}

export interface Exchange extends ApiRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly arrived: Pick<Parameters<RequestLog['add']>[0], 'at' | 'monotonicMs'>;
}
