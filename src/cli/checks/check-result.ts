import type { CheckName } from './check-names.js';

/** `skipped`: the check could not run. The result of another check contains the reason. */
export type CheckStatus = 'ok' | 'warning' | 'failed' | 'skipped';

export interface CheckResult {
  readonly check: CheckName;
  readonly status: CheckStatus;
  /** `config`, `data source NAME`, `cluster`, or `NAMESPACE/NAME` of a scaler. */
  readonly subject: string;
  /** One sentence without a full stop, and without secrets. */
  readonly message: string;
  /** Configuration or command that fixes the problem; null for `ok` and `skipped`. */
  readonly fix: string | null;
}

export interface ResultBuilder {
  readonly ok: (message: string) => CheckResult;
  readonly warning: (message: string, fix: string) => CheckResult;
  readonly failed: (message: string, fix: string) => CheckResult;
  readonly skipped: (why: string) => CheckResult;
}

export function resultsOf(check: CheckName, subject: string): ResultBuilder {
  const make =
    (status: CheckStatus) =>
    (message: string, fix: string | null = null): CheckResult => ({ check, status, subject, message, fix });
  return { ok: make('ok'), warning: make('warning'), failed: make('failed'), skipped: make('skipped') };
}
