/** Times for people and for the wire: ISO-8601 UTC with milliseconds (design §13). */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
