/** Returns the status of the answer; null while nothing listens. */
export async function statusOf(url: string): Promise<number | null> {
  try {
    const response = await fetch(url);
    await response.arrayBuffer();
    return response.status;
  } catch {
    return null;
  }
}
