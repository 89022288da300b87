/** Turns as plain text: for the model that sums them up, and as the summary itself when no model does. Pure. */
import type { PlacedEntry, SessionEntry } from '../protocol/index.ts';
import { bytesOf } from './compaction.ts';
import { DIGEST_LINE_CHARS, TOLD_CHARS_MAX, TOLD_CHARS_MIN } from './limits.ts';

/**
 * The newest turns whole as far as there is room, longer parts shortened; what does not fit even so is left out from the
 * oldest on, and that is said.
 */
export function tellTurns(entries: readonly PlacedEntry[], bytes: number): string {
  for (let chars = TOLD_CHARS_MAX; chars >= TOLD_CHARS_MIN; chars = Math.floor(chars / 2)) {
    const lines = entries.flatMap(({ entry }) => tell(entry, chars));
    const text = lines.join('\n');
    if (bytesOf(text) <= bytes) return text;
    if (chars / 2 < TOLD_CHARS_MIN) return newestLines(lines, bytes);
  }
  return '';
}

/** One line for each answer, call and result: what is certain, without anybody's judgement. */
export function digestTurns(entries: readonly PlacedEntry[], bytes: number): string {
  const lines = entries.flatMap(({ entry }) => tell(entry, DIGEST_LINE_CHARS));
  return newestLines(
    lines.map((line) => line.replaceAll(/\s+/g, ' ')),
    bytes,
  );
}

function newestLines(lines: readonly string[], bytes: number): string {
  const kept: string[] = [];
  let left = bytes - 60;
  for (const line of lines.toReversed()) {
    left -= bytesOf(line) + 1;
    if (left < 0) {
      kept.unshift(`(${lines.length - kept.length} earlier steps are left out)`);
      break;
    }
    kept.unshift(line);
  }
  return kept.join('\n');
}

function tell(entry: SessionEntry, chars: number): string[] {
  switch (entry.type) {
    case 'mail':
      return entry.items.map(
        (item) => `MAIL ${item.type} from ${item.from}: ${shorten(item.text, chars)}`,
      );
    case 'answer':
      return entry.content.map((block) =>
        block.type === 'text'
          ? `SAID: ${shorten(block.text, chars)}`
          : `CALLED ${block.name} ${shorten(JSON.stringify(block.input) ?? '', chars)}`,
      );
    case 'result': {
      const whole = entry.output === undefined ? '' : ` (whole in ${entry.output})`;
      return [
        `RESULT of ${entry.tool}, ${entry.ok ? 'ok' : 'failed'}${whole}: ${shorten(entry.text, chars)}`,
      ];
    }
    case 'compaction':
      return [`SUMMARY of what was before: ${shorten(entry.summary, chars * 4)}`];
  }
}

/** Both ends: the beginning says what it is, the end how it went. */
function shorten(text: string, chars: number): string {
  const flat = text.trim();
  if (flat.length <= chars) return flat;
  const head = Math.floor(chars * 0.6);
  return `${flat.slice(0, head)} … ${flat.slice(flat.length - (chars - head))}`;
}
