/**
 * Lays out rows in columns that line up, under a line of titles.
 *
 * @param {string[]} titles one for each column
 * @param {(string | number)[][]} rows
 * @returns {string} lines joined by line feeds, without spaces at their ends
 */
export function table(titles, rows) {
  const widths = titles.map((title) => title.length);
  const line = (cells) =>
    cells
      .map((cell, column) => String(cell).padEnd(widths[column]))
      .join('  ')
      .trimEnd();
  return [titles, ...rows].map(line).join('\n');
}
