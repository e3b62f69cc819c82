/** Requests that the simulator rejects but a real server answers, with the reason of each. */
export const EXCEPTIONS: Readonly<Record<string, string>> = {};
