/**
 * Payloads by reference (M8): what is too large for a record lies in `blobs/<sha256>`, and the record holds its head and
 * this reference. Who receives it gets the whole.
 */
export interface PayloadRef {
  readonly blob: string;
  /** Of the whole, in UTF-8. */
  readonly bytes: number;
}

const HEAD_BYTES = 1024;
const encoder = new TextEncoder();

/** What stands in a record for a text: its beginning, and a line that says how much there is. The same again of itself. */
export function payloadHead(text: string, bytes: number): string {
  const { read } = encoder.encodeInto(text, new Uint8Array(HEAD_BYTES));
  return `${text.slice(0, read)}\n… (${bytes} bytes in all)`;
}
