import { useEffect, useState } from 'preact/hooks';

/**
 * Loads a part of the code of the page when `isWanted` is true. If loading fails, the part stays missing until the page
 * is reloaded, because browsers cache the failure.
 */
export function usePart<T extends object>(
  load: () => Promise<T>,
  isWanted: boolean,
): { readonly part: T | null; readonly hasFailed: boolean } {
  const [state, setState] = useState<{ readonly part: T | null; readonly hasFailed: boolean }>({
    part: null,
    hasFailed: false,
  });
  useEffect(() => {
    let isCurrent = isWanted;
    if (isWanted)
      load().then(
        (part) => isCurrent && setState({ part, hasFailed: false }),
        () => isCurrent && setState({ part: null, hasFailed: true }),
      );
    return () => {
      isCurrent = false;
    };
  }, [load, isWanted]);
  return state;
}
