/** What the Helm chart sets for a memory limit of 1 GiB and more, besides the heap limit. */
export const SEMI_SPACE_FLAG = '--max-semi-space-size=16';

/** Returns the flags of Node.js with which the chart starts the service. `heapLimit`: in MiB. */
export function chartFlags(heapLimit: string): readonly string[] {
  return [`--max-old-space-size=${heapLimit}`, SEMI_SPACE_FLAG];
}
