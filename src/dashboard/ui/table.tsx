import type { ComponentChildren, VNode } from 'preact';

interface Column {
  readonly title: string;
  /** Whether the column contains numbers, so that it is aligned to the right. */
  readonly isNumber?: boolean;
}

interface TableProps {
  /** Describes the table to screen readers. */
  readonly caption: string;
  readonly columns: readonly Column[];
  readonly rows: readonly TableRow[];
}

export interface TableRow {
  readonly key: string;
  readonly cells: readonly ComponentChildren[];
}

/**
 * Shows a small table. On a narrow page, each row is a block in which each value has the title of its column. Browsers
 * would not expose such blocks as a table to screen readers, so the roles are set explicitly.
 */
export function Table({ caption, columns, rows }: TableProps): VNode {
  return (
    <table class="table" role="table">
      <caption class="visually-hidden">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ title, isNumber }) => (
            <th key={title} role="columnheader" scope="col" class={isNumber === true ? 'number' : undefined}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map(({ key, cells }) => (
          <tr key={key} role="row">
            {cells.map((cell, index) => (
              <td
                key={index}
                role="cell"
                data-title={columns[index]?.title}
                class={columns[index]?.isNumber === true ? 'number' : undefined}
              >
                <div>{cell}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
