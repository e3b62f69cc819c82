import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApiContext } from './objects/context.js';
import type { FaultPlan } from './faults/faults.js';
import type { Sent } from './handle.js';
import type { RequestLog } from './requests/request-log.js';
import type { ResourceRequest } from './requests/request.js';
import type { Rbac } from './access/rules.js';
import type { Watches } from './reads/watch.js';

export interface ApiParts {
  readonly context: ApiContext;
  readonly rbac: () => Rbac;
  readonly faults: FaultPlan;
  readonly log: RequestLog;
  readonly watches: Watches;
  /** Registers the cancellation of a timer, called when the simulator closes. */
  readonly onClose: (stop: () => void) => void;
}

/** A request to the API, independent of how it arrived: over HTTP or by a call in the same process. */
export interface ApiRequest {
  readonly method: string;
  readonly address: URL;
  /** The `Host` header; empty without one. */
  readonly host: string;
  readonly authorization: string | undefined;
  readonly sent: Sent;
  /** Null if the path is not that of a resource. */
  readonly parsed: ResourceRequest | null;
}

/** A request over HTTP and its response. */
export interface Exchange extends ApiRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly arrived: Pick<Parameters<RequestLog['add']>[0], 'at' | 'monotonicMs'>;
}
