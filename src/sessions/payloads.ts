/**
 * Large parts of a transcript by reference, and whole again (M8): a record holds their heads, a conversation all of them.
 *
 * Invariants
 * - L21 `wholeEntry` of what `byReference` and a store made is the entry that was; what can't be read is named in its place.
 */
import { type BlobStore, INLINE_BYTES_MAX, wholeText } from '../journal/index.ts';
import {
  type ContentBlock,
  type MailItem,
  type PayloadRef,
  payloadHead,
  type SessionEntry,
} from '../protocol/index.ts';

const encoder = new TextEncoder();

/** Whether a text is too large for a record. */
export function isLarge(text: string): boolean {
  if (text.length * 3 <= INLINE_BYTES_MAX) return false;
  return text.length > INLINE_BYTES_MAX || encoder.encode(text).length > INLINE_BYTES_MAX;
}

/** Mail that came by reference goes into the record as it came; the rest of the entry is as it is. */
export function mailByReference(entry: SessionEntry): SessionEntry {
  if (entry.type !== 'mail' || entry.items.every((item) => item.blob === undefined)) return entry;
  const items = entry.items.map((item) =>
    item.bytes === undefined ? item : { ...item, text: payloadHead(item.text, item.bytes) },
  );
  return { ...entry, items };
}

/** The payload of a block of an answer that is too large for a record; null when it is not. */
export function payloadOf(block: ContentBlock): string | null {
  const text = block.type === 'text' ? block.text : (JSON.stringify(block.input) ?? '');
  return isLarge(text) ? text : null;
}

/** The block as a record holds it. */
export function blockByReference(block: ContentBlock, ref: PayloadRef): ContentBlock {
  if (block.type === 'text') return { ...block, text: payloadHead(block.text, ref.bytes), ...ref };
  return { ...block, input: inputByReference(block.input, ref.bytes), ...ref };
}

/** The input of a call as a record holds it beside a reference to the whole. */
export function inputByReference(input: unknown, bytes: number): unknown {
  const short = shortened(input);
  const json = JSON.stringify(short) ?? '';
  return isLarge(json) ? payloadHead(json, bytes) : short;
}

/** Long texts in it cut to their heads, so that people still see what was called with what. */
function shortened(value: unknown): unknown {
  if (typeof value === 'string') {
    const bytes = encoder.encode(value).length;
    const head = payloadHead(value, bytes);
    return head.length < value.length ? head : value;
  }
  if (Array.isArray(value)) return value.map(shortened);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, shortened(part)]));
}

/** An entry of a record with all of its parts whole. */
export async function wholeEntry(
  blobs: Pick<BlobStore, 'get'>,
  entry: SessionEntry,
): Promise<SessionEntry> {
  if (entry.type === 'mail' && entry.items.some((item) => item.blob !== undefined)) {
    return { ...entry, items: await inTurn(entry.items, (item) => wholeItem(blobs, item)) };
  }
  if (entry.type === 'answer' && entry.content.some((block) => block.blob !== undefined)) {
    return { ...entry, content: await inTurn(entry.content, (block) => wholeBlock(blobs, block)) };
  }
  if (entry.type === 'result' && entry.blob !== undefined) {
    const { blob, bytes: _bytes, ...rest } = entry;
    return { ...rest, text: await wholeText(blobs, { text: rest.text, blob }) };
  }
  return entry;
}

/** The reference stays: the item may be recorded again. */
async function wholeItem(blobs: Pick<BlobStore, 'get'>, item: MailItem): Promise<MailItem> {
  return item.blob === undefined ? item : { ...item, text: await wholeText(blobs, item) };
}

async function wholeBlock(
  blobs: Pick<BlobStore, 'get'>,
  block: ContentBlock,
): Promise<ContentBlock> {
  const { blob, bytes: _bytes, ...rest } = block;
  if (blob === undefined) return block;
  if (rest.type === 'text') return { ...rest, text: await wholeText(blobs, { ...rest, blob }) };
  return { ...rest, input: await wholeInput(blobs, { input: rest.input, blob }) };
}

/** The input of a call, whole; an object in any case, that says so when it can't be read. Never rejects. */
export async function wholeInput(
  blobs: Pick<BlobStore, 'get'>,
  part: { readonly input: unknown; readonly blob?: string | undefined },
): Promise<unknown> {
  if (part.blob === undefined) return part.input;
  const text = await wholeText(blobs, { text: '', blob: part.blob });
  try {
    return JSON.parse(text);
  } catch {
    return { lost: text.trim(), head: part.input };
  }
}

async function inTurn<T, R>(parts: readonly T[], make: (part: T) => Promise<R>): Promise<R[]> {
  const made: R[] = [];
  for (const part of parts) made.push(await make(part));
  return made;
}
