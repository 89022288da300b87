/** At most `max` characters for a line that people read; ends with `…` where something was left out. */
export function shortened(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max - 1)}…` : text;
}
