/** Returns the sum of all series of one name on a page of metrics whose labels contain `label`. Throws without any. */
export function sumOf(page: string, name: string, label = ''): number {
  const values = linesOf(page, name).filter((line) => line.includes(label));
  if (values.length === 0) throw new Error(`the page has no ${name} ${label}`);
  return values.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

/** Returns the number of series of one name on a page of metrics. */
export function countOf(page: string, name: string): number {
  return linesOf(page, name).length;
}

function linesOf(page: string, name: string): readonly string[] {
  return page.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
}

/** Returns the body of a 200; throws for any other status. */
export async function readPage(url: string): Promise<string> {
  const response = await fetch(url);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`reading ${url}: ${response.status} ${text.slice(0, 200)}`);
  return text;
}
