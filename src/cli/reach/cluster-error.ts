import { KubernetesError } from '../../kubernetes/api/types.js';
import { CommandError } from '../output/io.js';

interface NeededPermission {
  readonly verb: string;
  readonly plural: string;
  readonly namespace: string;
}

/**
 * Returns a failure of the API server as `CommandError`: with the permission that the user lacks, or with `missing` as
 * the message for 404. Returns other errors unchanged.
 */
export function clusterError(
  error: unknown,
  { verb, plural, namespace }: NeededPermission,
  missing: (message: string) => string,
): unknown {
  if (!(error instanceof KubernetesError)) return error;
  if (error.kind === 'forbidden' || error.kind === 'unauthorized')
    return new CommandError(
      `${error.message}. You need permission to ${verb} ${plural} in namespace ${namespace}`,
    );
  return new CommandError(error.kind === 'not_found' ? missing(error.message) : error.message);
}
