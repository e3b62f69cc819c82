import type { Log } from '../../src/telemetry/log.js';

const ignore = (): void => undefined;

/** A log that says nothing. */
export const SILENT_LOG: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
