/** Returns at most `most` names and how many others there are: `a, b, c and 4 more`. */
export function listSome(names: readonly string[], most = 5): string {
  const rest = names.length > most ? ` and ${names.length - most} more` : '';
  return `${names.slice(0, most).join(', ')}${rest}`;
}
