import type { OverviewRow, ScalerState } from '../../api/answers.js';
import { SEVERITY_STYLES, isSeverity } from '../ui/severities.js';
import { keyOf } from './merge-overview.js';
import type { Selection } from './selection.js';

type Severity = ScalerState['severity'];

/** The heading of a section. */
export interface SectionLine {
  readonly key: string;
  /** Null: a section of a namespace. */
  readonly severity: Severity | null;
  readonly title: string;
  readonly rows: number;
  readonly isClosed: boolean;
}

/** A line of the list: the heading of a section, or a scaler. */
export type Line = { readonly section: SectionLine } | { readonly row: OverviewRow };

/** Divides sorted rows into sections, in the order of their first rows. */
export function linesOf(rows: readonly OverviewRow[], selection: Selection): readonly Line[] {
  const { group, sort, closed } = selection;
  if (group === null && sort !== 'state') return rows.map((row) => ({ row }));
  const sections = new Map<string, OverviewRow[]>();
  for (const row of rows) {
    const key = group === null ? row.state.severity : row.namespace;
    const members = sections.get(key);
    if (members === undefined) sections.set(key, [row]);
    else members.push(row);
  }
  return [...sections].flatMap(([key, members]): readonly Line[] => {
    const severity = group === null && isSeverity(key) ? key : null;
    const title = severity === null ? key : SEVERITY_STYLES[severity].text;
    const isClosed = closed.includes(key);
    const section = { key, severity, title, rows: members.length, isClosed };
    return [{ section }, ...(isClosed ? [] : members.map((row) => ({ row })))];
  });
}

export function lineKey(line: Line): string {
  return 'row' in line ? keyOf(line.row) : line.section.key;
}

/** Number of rows per severity and per namespace. */
export interface Counts {
  readonly severities: ReadonlyMap<Severity, number>;
  /** Ordered by name. */
  readonly namespaces: readonly (readonly [string, number])[];
}

export function countRows(rows: readonly OverviewRow[]): Counts {
  const severities = new Map<Severity, number>();
  const namespaces = new Map<string, number>();
  for (const row of rows) {
    namespaces.set(row.namespace, (namespaces.get(row.namespace) ?? 0) + 1);
    const { severity } = row.state;
    severities.set(severity, (severities.get(severity) ?? 0) + 1);
  }
  return { severities, namespaces: [...namespaces].sort(([a], [b]) => (a < b ? -1 : 1)) };
}
