/** The flags that the Helm chart sets for a memory limit below 2 GiB, besides the heap limit. */
export const CHART_FLAGS = '--max-semi-space-size=8';

/** Returns the flags of Node.js with which the chart starts the service. `heapLimit`: in MiB. */
export function chartFlags(heapLimit: string): readonly string[] {
  return [`--max-old-space-size=${heapLimit}`, CHART_FLAGS];
}
