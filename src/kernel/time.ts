/** Times for people and for the wire: ISO-8601 UTC with milliseconds (design §13). */
export function isoTime(ms: number): string {
  // oxlint-disable-next-line no-restricted-globals -- formats a given instant; reads no clock
  return new Date(ms).toISOString();
}
