/** Returns the paths of a value and of everything in it. */
export function pathsOf(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, member]) => pathsOf(member, [...path, key]))];
}

/** Returns a copy with another value at a path. */
export function replaceAt(value: unknown, [step, ...rest]: readonly string[], by: unknown): unknown {
  if (step === undefined) return by;
  if (Array.isArray(value))
    return value.map((item: unknown, index) => (String(index) === step ? replaceAt(item, rest, by) : item));
  if (typeof value !== 'object' || value === null) return value;
  const record = value as Readonly<Record<string, unknown>>;
  return { ...record, [step]: replaceAt(record[step], rest, by) };
}
