/** The transcript as people read it: `views/sessions/<actor>.jsonl`, one entry a line. A view, never read back. */
import type { PlacedEntry } from '../protocol/index.ts';

/** One JSON object, without the line feed. */
export function renderTranscriptLine(placed: PlacedEntry): string {
  return JSON.stringify({ v: 1, seq: placed.seq, at: placed.at, ...placed.entry });
}
