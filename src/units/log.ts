export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Fields of a log line. If the name of a field sounds secret, its value is not printed. */
export type Facts = Readonly<Record<string, unknown>>;

/**
 * Logs a static message with facts as fields. `error`: a person must act now. `warn`: something was lost, but the
 * service continues. `info`: a change of replicas, a start, a reload or a stop. `debug`: everything else.
 */
export type Log = Readonly<Record<LogLevel, (message: string, facts?: Facts) => void>>;

const ignore = (): void => undefined;

export const SILENT_LOG: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
