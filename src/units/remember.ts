/**
 * Returns `build`, which depends on the text alone, with its last results: the same object for the same text. Without
 * weak references, whose tables each garbage collection visits. With `most` texts, all are forgotten.
 */
export function rememberByText<T>(build: (text: string) => T, most = 10_000): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    if (known.size >= most) known.clear();
    const built = build(text);
    known.set(text, built);
    return built;
  };
}
