/**
 * Plain aligned tables: a head, two spaces between columns, no lines. On a terminal the table keeps its width by
 * cutting the columns that may be cut, the widest first; elsewhere only texts without measure are cut (`max`).
 */
import { safeLine } from './safe.ts';
import type { Style, Styles } from './style.ts';
import { fit, pad, widthOf } from './width.ts';

export interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row) => string;
  /** May be cut on a narrow terminal, down to this many columns. */
  readonly shrinkTo?: number;
  /** Never wider than this, also where there is no terminal: the whole text is elsewhere. */
  readonly max?: number;
  readonly align?: 'right';
  readonly style?: (row: Row, styles: Styles) => Style;
}

export interface TableOptions {
  /** Columns of the terminal; null: as wide as it gets. */
  readonly width: number | null;
  readonly styles: Styles;
}

const GAP = 2;

export const TITLE_MAX = 60;
/** Of a reason, which may quote the whole output of a gate. */
export const REASON_MAX = 100;

/** One string with a line end after each line. */
export function renderTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  options: TableOptions,
): string {
  const cells = rows.map((row) => columns.map((column) => safeLine(column.cell(row))));
  const widths = columns.map((column, index) =>
    Math.min(
      column.max ?? Number.POSITIVE_INFINITY,
      Math.max(widthOf(column.head), ...cells.map((row) => widthOf(row[index] ?? ''))),
    ),
  );
  if (options.width !== null) shrink(widths, columns, options.width);

  const line = (texts: readonly string[], styleOf: (index: number) => Style): string =>
    columns
      .map((column, index) => {
        const width = widths[index] ?? 0;
        const text = fit(texts[index] ?? '', width);
        const isLast = index === columns.length - 1;
        const space = ' '.repeat(Math.max(0, width - widthOf(text)));
        const styled = styleOf(index)(text);
        if (column.align === 'right') return space + styled;
        return isLast ? styled : styled + space;
      })
      .join(' '.repeat(GAP))
      .trimEnd();

  const head = line(
    columns.map((column) => column.head),
    () => options.styles.dim,
  );
  const body = rows.map((row, position) =>
    line(cells[position] ?? [], (index) => {
      const style = columns[index]?.style;
      return style === undefined ? (text) => text : style(row, options.styles);
    }),
  );
  return `${[head, ...body].join('\n')}\n`;
}

function shrink<Row>(widths: number[], columns: readonly Column<Row>[], width: number): void {
  const total = (): number => widths.reduce((sum, one) => sum + one, 0) + GAP * (widths.length - 1);
  while (total() > width) {
    let widest = -1;
    for (const [index, column] of columns.entries()) {
      const own = widths[index] ?? 0;
      if (column.shrinkTo === undefined || own <= column.shrinkTo) continue;
      if (widest === -1 || own > (widths[widest] ?? 0)) widest = index;
    }
    if (widest === -1) return;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
}

/** `key  value` lines. */
export function renderPairs(pairs: readonly (readonly [string, string])[]): string {
  const width = Math.max(...pairs.map(([key]) => widthOf(key)));
  return pairs.map(([key, value]) => `${pad(key, width)}  ${safeLine(value)}\n`).join('');
}
