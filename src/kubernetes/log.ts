/** Where the client reports what no caller gets to see: static message, facts as fields. A pino logger fits. */
export interface Log {
  readonly debug: (facts: Readonly<Record<string, unknown>>, message: string) => void;
  readonly info: (facts: Readonly<Record<string, unknown>>, message: string) => void;
  readonly warn: (facts: Readonly<Record<string, unknown>>, message: string) => void;
  readonly error: (facts: Readonly<Record<string, unknown>>, message: string) => void;
}

const ignore = (): void => undefined;

/** Says nothing. */
export const SILENT: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
