import type { PlainObject } from '../../scaler/plain-json.js';
import { BUILT_IN } from '../../scaler/schema/presets.js';
import { defined } from '../draft/draft.js';
import type { Fields } from './fields.js';

const APPS_KINDS: ReadonlySet<string> = new Set(['Deployment', 'StatefulSet', 'ReplicaSet']);

/** API versions that Kubernetes has removed. Their kinds are now in `apps/v1`. */
const OLD_GROUP = /^(?:extensions|apps)\/v1beta[12]$/;

/** Reads a reference to a workload, without default values. */
export function readTarget(reference: Fields | undefined): PlainObject | undefined {
  if (reference === undefined) return undefined;
  const kind = reference.text('kind') ?? BUILT_IN.targetKind;
  const written = reference.text('apiVersion');
  const name = reference.text('name');
  const apiVersion = apiVersionOf(written, kind, reference);
  return defined({
    apiVersion: apiVersion === BUILT_IN.targetApiVersion ? undefined : apiVersion,
    kind: kind === BUILT_IN.targetKind ? undefined : kind,
    name,
  });
}

function apiVersionOf(written: string | undefined, kind: string, reference: Fields): string {
  const isApps = APPS_KINDS.has(kind);
  if (written !== undefined && written !== '') return isApps && OLD_GROUP.test(written) ? 'apps/v1' : written;
  if (isApps) return 'apps/v1';
  if (kind !== 'ReplicationController')
    reference.log.lose(
      [...reference.path, 'apiVersion'],
      `is missing: v1 is used for the ${kind}, which may be wrong`,
    );
  return 'v1';
}
