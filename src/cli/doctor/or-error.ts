import { KubernetesError } from '../../kubernetes/types.js';

/** What `ask` gives, or the `KubernetesError` that it throws, for those who judge both. */
export async function orError<T>(ask: () => Promise<T>): Promise<T | KubernetesError> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof KubernetesError) return error;
    throw error;
  }
}

/** The same, where the reason does not matter. */
export async function orNull<T>(ask: () => Promise<T>): Promise<T | null> {
  const answer = await orError(ask);
  return answer instanceof KubernetesError ? null : answer;
}
