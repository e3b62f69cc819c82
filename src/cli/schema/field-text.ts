/** What an editor shows of a field; type and range are in the schema itself. */
export interface FieldText {
  readonly description: string;
  /** What holds where nothing is written; left out: nothing, or another field settles it. */
  readonly default?: unknown;
}

/** By path: `[]` stands for each item of a list, `NAME` for a key that is free, `{a,b}` for a and for b. */
export type FieldTable = Readonly<Record<string, FieldText>>;

/** The same table with a row of its own for each path that braces stand for. */
export function expandFields(table: FieldTable): ReadonlyMap<string, FieldText> {
  return new Map(
    Object.entries(table).flatMap(([path, text]) => expandBraces(path).map((one) => [one, text] as const)),
  );
}

/** `a.{b,c}.d` as `a.b.d` and `a.c.d`; several braces as all their combinations. */
export function expandBraces(path: string): readonly string[] {
  const match = /\{([^{}]*)\}/.exec(path);
  if (match === null) return [path];
  const [braces, inner = ''] = match;
  return inner.split(',').flatMap((part) => expandBraces(path.replace(braces, () => part)));
}
