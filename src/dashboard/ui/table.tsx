import type { ComponentChildren, VNode } from 'preact';

interface Column {
  readonly title: string;
  /** Aligns the numbers of a column at their end. */
  readonly isNumber?: boolean;
}

interface TableProps {
  /** What the table is about, for a screen reader. */
  readonly caption: string;
  readonly columns: readonly Column[];
  readonly rows: readonly TableRow[];
}

export interface TableRow {
  readonly key: string;
  readonly cells: readonly ComponentChildren[];
}

/**
 * A table of some rows. On a narrow page every row becomes a block in which each value has its title:
 * without the roles, a browser then forgets that it is a table.
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
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
