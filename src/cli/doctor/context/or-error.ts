import { KubernetesError } from '../../../kubernetes/api/types.js';

/** Returns the `KubernetesError` that `request` throws, if any. Other errors are thrown. */
export async function orError<T>(request: () => Promise<T>): Promise<T | KubernetesError> {
  try {
    return await request();
  } catch (error) {
    if (error instanceof KubernetesError) return error;
    throw error;
  }
}

/** Returns null if `request` throws a `KubernetesError`. */
export async function orNull<T>(request: () => Promise<T>): Promise<T | null> {
  const answer = await orError(request);
  return answer instanceof KubernetesError ? null : answer;
}
