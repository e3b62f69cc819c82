import { KubernetesError } from '../../kubernetes/api/types.js';

/** Returns the result of `request`, or the `KubernetesError` that it throws. Rethrows other errors. */
export async function orError<T>(request: () => Promise<T>): Promise<T | KubernetesError> {
  try {
    return await request();
  } catch (error) {
    if (error instanceof KubernetesError) return error;
    throw error;
  }
}

/** Returns the result of `request`, or null if it throws a `KubernetesError`. Rethrows other errors. */
export async function orNull<T>(request: () => Promise<T>): Promise<T | null> {
  const answer = await orError(request);
  return answer instanceof KubernetesError ? null : answer;
}
