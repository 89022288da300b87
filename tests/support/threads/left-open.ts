import { setImmediate as turn } from 'node:timers/promises';

/** On a busy machine a thread takes its time to be gone. */
const PATIENCE_MS = 10_000;

/** What keeps this process alive, by kind, of the kinds that actors are made of. */
export function openNow(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) {
    if (/Worker|MessagePort|Timeout/.test(kind)) counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

/** The same, as soon as it is what it was before; a port needs some turns of the loop to close. */
export async function leftOpen(before: Record<string, number>): Promise<Record<string, number>> {
  const wanted = JSON.stringify(before);
  const deadline = performance.now() + PATIENCE_MS;
  while (JSON.stringify(openNow()) !== wanted && performance.now() < deadline) {
    await turn();
  }
  return openNow();
}
