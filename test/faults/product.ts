import type * as documentSetModule from '../../src/config/document-set.js';
import type * as rateLimitModule from '../../src/kubernetes/requests/retry.js';
import type * as decideModule from '../../src/decision/decide.js';
import type * as lanesModule from '../../src/kubernetes/requests/lanes.js';
import type * as parseModule from '../../src/decision/snapshot/parse-snapshot.js';
import type * as readConfigModule from '../../src/config/read-service-config.js';
import type * as readScalersModule from '../../src/scaler/read/read-scalers.js';
import type * as requestErrorModule from '../../src/kubernetes/requests/request-error.js';
import type * as serviceModule from '../../src/service/service.js';
import type * as typesModule from '../../src/kubernetes/api/types.js';
import type * as clockModule from '../../src/units/clock.js';
import type * as logModule from '../../src/telemetry/log.js';
import type * as writeModule from '../../src/decision/result/write-json.js';

/**
 * The part of promscaler that the simulation runs: the service itself, and the types at its interfaces. Loaded from a
 * directory, so that a copy with a bug can run as well; a class of one copy is not that of another.
 */
export type Product = Pick<typeof serviceModule, 'createService'> &
  Pick<typeof readScalersModule, 'readDocuments'> &
  Pick<typeof documentSetModule, 'nextSet'> &
  Pick<typeof rateLimitModule, 'rateLimitMs'> &
  Pick<typeof readConfigModule, 'readServiceConfig'> &
  Pick<typeof requestErrorModule, 'refusalError' | 'connectionError' | 'abortError'> &
  Pick<typeof typesModule, 'KubernetesError'> &
  Pick<typeof lanesModule, 'createLaneBudgets'> &
  Pick<typeof clockModule, 'sleep' | 'withDeadline'> &
  Pick<typeof logModule, 'createLog'> &
  Pick<typeof writeModule, 'snapshotToJson' | 'decisionToJson'> &
  Pick<typeof parseModule, 'parseSnapshot'> &
  Pick<typeof decideModule, 'decide'>;

const MODULES = [
  'service/service',
  'scaler/read/read-scalers',
  'config/document-set',
  'kubernetes/requests/retry',
  'config/read-service-config',
  'kubernetes/requests/request-error',
  'kubernetes/api/types',
  'kubernetes/requests/lanes',
  'units/clock',
  'telemetry/log',
  'decision/result/write-json',
  'decision/snapshot/parse-snapshot',
  'decision/decide',
] as const;

/**
 * Loads the product from a directory of modules, compiled (`.js`) or, with a test runner that supports it, as source.
 */
export async function loadProduct(folder: URL): Promise<Product> {
  const modules = await Promise.all(
    MODULES.map(async (name) => (await import(new URL(`${name}.js`, folder).href)) as object),
  );
  // The compiler checks it for the MODULES in src; a copy differs by one line.
  return Object.assign({}, ...modules) as Product;
}
