import { createService } from '../../src/service/service.js';
import { nextSet } from '../../src/config/document-set.js';
import { readServiceConfig } from '../../src/config/read-service-config.js';
import { decide } from '../../src/decision/decide.js';
import { parseSnapshot } from '../../src/decision/snapshot/parse-snapshot.js';
import { decisionToJson, snapshotToJson } from '../../src/decision/result/write-json.js';
import { createLaneBudgets } from '../../src/kubernetes/requests/lanes.js';
import { rateLimitMs } from '../../src/kubernetes/requests/retry.js';
import { abortError, connectionError, refusalError } from '../../src/kubernetes/requests/request-error.js';
import { KubernetesError } from '../../src/kubernetes/api/types.js';
import { readDocuments } from '../../src/scaler/read/read-scalers.js';
import { createLog } from '../../src/telemetry/log.js';
import { sleep, withDeadline } from '../../src/units/clock.js';
import type { Product } from './product.js';

/** promscaler from src, for tests. */
export const SOURCE_PRODUCT: Product = {
  createService,
  readDocuments,
  nextSet,
  rateLimitMs,
  readServiceConfig,
  refusalError,
  connectionError,
  abortError,
  KubernetesError,
  createLaneBudgets,
  sleep,
  withDeadline,
  createLog,
  snapshotToJson,
  decisionToJson,
  parseSnapshot,
  decide,
};
