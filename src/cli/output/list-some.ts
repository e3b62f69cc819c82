/** Joins the first `most` names and counts the rest: `a, b, c and 4 more`. */
export function listSome(names: readonly string[], most = 5): string {
  const rest = names.length > most ? ` and ${names.length - most} more` : '';
  return `${names.slice(0, most).join(', ')}${rest}`;
}
