/** Requests that the simulator refuses rather than answers as a real server, with the reason of each. */
export const EXCEPTIONS: Readonly<Record<string, string>> = {};
