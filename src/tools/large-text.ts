/** Results that are too large for a conversation: head and tail stay, the whole goes to an output file. */
import { RESULT_BYTES_MAX, RESULT_HEAD_BYTES, RESULT_TAIL_BYTES } from './limits.ts';
import type { Outputs, ToolOutcome } from './tool.ts';

const encoder = new TextEncoder();

interface Excerpt {
  readonly head: string;
  readonly tail: string;
  readonly bytes: number;
}

/** Whole lines where there are any, whole characters always. Null: the text is small enough. */
function excerpt(text: string): Excerpt | null {
  if (text.length * 3 <= RESULT_BYTES_MAX) return null;
  const bytes = encoder.encode(text);
  if (bytes.length <= RESULT_BYTES_MAX) return null;
  const decoder = new TextDecoder();
  const head = decoder.decode(bytes.subarray(0, charStart(bytes, RESULT_HEAD_BYTES)));
  const tail = decoder.decode(bytes.subarray(charStart(bytes, bytes.length - RESULT_TAIL_BYTES)));
  const lineEnd = head.lastIndexOf('\n');
  const lineStart = tail.indexOf('\n') + 1;
  return {
    head: lineEnd > head.length / 2 ? head.slice(0, lineEnd) : head,
    tail: lineStart > 0 && lineStart < tail.length / 2 ? tail.slice(lineStart) : tail,
    bytes: bytes.length,
  };
}

/** What the model is shown instead of the whole. */
function excerptText(cut: Excerpt, path: string): string {
  return (
    `${cut.head}\n\n[… cut: the whole is ${cut.bytes} bytes, in ${path}; ` +
    `read it with read_file and offset …]\n\n${cut.tail}`
  );
}

export async function boundOutcome(outcome: ToolOutcome, outputs: Outputs): Promise<ToolOutcome> {
  const cut = excerpt(outcome.text);
  if (cut === null) return outcome;
  const { path } = await outputs.save(outcome.text);
  return { ok: outcome.ok, text: excerptText(cut, path), output: path };
}

/** Steps back from inside a character to its first byte. */
function charStart(bytes: Uint8Array, index: number): number {
  let start = index;
  while (start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  return start;
}
