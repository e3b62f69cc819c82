/** UTF-16 code units. The result for a longer query is not cached. */
const MAX_KEPT_LENGTH = 10_000;

/** Returns `build` with a cache of its results for the last `most` queries. `build` must depend only on the query. */
export function rememberByQuery<T>(build: (query: string) => T, most: number): (query: string) => T {
  const kept = new Map<string, T>();
  return (query) => {
    const known = kept.get(query);
    if (known !== undefined) return known;
    const built = build(query);
    if (query.length > MAX_KEPT_LENGTH) return built;
    const oldest = kept.size < most ? undefined : kept.keys().next().value;
    if (oldest !== undefined) kept.delete(oldest);
    kept.set(query, built);
    return built;
  };
}
