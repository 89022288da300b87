/** Pages of a command's output while it grows: whole characters, so that the next page begins with one. */
import { type Files, systemCode } from '../../kernel/index.ts';
import type { OutputPage } from '../inbox.ts';
import { OUTPUT_PAGE_BYTES } from '../limits.ts';

/** `offset` null: the last page. An offset past the end is the end. */
export async function readPage(
  files: Files,
  path: string,
  offset: number | null,
): Promise<OutputPage> {
  const handle = await files.open(path, 'read').catch((error: unknown) => {
    // It was not started yet, or could not be.
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  });
  if (handle === null) return { text: '', from: 0, next: 0, size: 0 };
  try {
    const size = await handle.size();
    const wanted = offset ?? Math.max(0, size - OUTPUT_PAGE_BYTES);
    let from = Math.min(wanted, size);
    let bytes = await handle.read(from, Math.min(OUTPUT_PAGE_BYTES, size - from));
    if (offset === null && from > 0) {
      const skipped = bytes.findIndex((byte) => !isInner(byte));
      from += Math.max(skipped, 0);
      bytes = bytes.subarray(Math.max(skipped, 0));
    }
    const whole = bytes.subarray(0, wholeCharacters(bytes));
    return { text: utf8.decode(whole), from, next: from + whole.length, size };
  } finally {
    await handle.close();
  }
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

function isInner(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

/** Length without a character that is cut at the end; what is no UTF-8 anyway is left as it is. */
function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isInner(byte)) continue;
    const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    const cut = bytes.length - back;
    // A page never is empty for want of a rest that does not come.
    return needs > back && cut > 0 ? cut : bytes.length;
  }
  return bytes.length;
}
