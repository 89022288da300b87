/** What keeps this process alive, by kind, of the kinds that actors are made of. */
export function leftOpen(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) {
    if (/Worker|MessagePort|Timeout|Immediate/.test(kind)) counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}
