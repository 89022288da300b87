/** Lines that were broken for the width of the source are one again; help breaks them for the width of the reader. */
export function flowing(text: string): string {
  return text.replaceAll(/([^\n.:])\n(?=\S)/g, '$1 ');
}
