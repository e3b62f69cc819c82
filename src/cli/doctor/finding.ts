import type { CheckName } from './check-names.js';

/** `skipped`: it could not be looked at, for a reason that another finding tells. */
export type FindingStatus = 'ok' | 'warning' | 'failed' | 'skipped';

/** What one check has found about one subject. */
export interface Finding {
  readonly check: CheckName;
  readonly status: FindingStatus;
  /** `config`, `data source NAME`, `cluster`, or a scaler's `NAMESPACE/NAME`. */
  readonly subject: string;
  /** One sentence, without a full stop. Holds no secret. */
  readonly message: string;
  /** The line that mends it, or the step to take; null where nothing is to be mended. */
  readonly mend: string | null;
}

/** Makes the findings of one check on one subject. */
export interface FindingMaker {
  readonly ok: (message: string) => Finding;
  readonly warning: (message: string, mend: string) => Finding;
  readonly failed: (message: string, mend: string) => Finding;
  readonly skipped: (why: string) => Finding;
}

/** The findings of `check` on `subject`. */
export function findingsOf(check: CheckName, subject: string): FindingMaker {
  const make =
    (status: FindingStatus) =>
    (message: string, mend: string | null = null): Finding => ({ check, status, subject, message, mend });
  return { ok: make('ok'), warning: make('warning'), failed: make('failed'), skipped: make('skipped') };
}
