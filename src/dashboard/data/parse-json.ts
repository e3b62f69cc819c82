/** Returns undefined for text that is not JSON, or that is nested too deep for the engine. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
