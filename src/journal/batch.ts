/** The bytes of one batch: records framed and chained into one buffer that is used again, so that one write takes all. */
import { crc32 } from './crc32.ts';
import { FRAME_BYTES_MAX, frame, TRAILER_BYTES, writeTrailer } from './record.ts';

const KEPT_BYTES_MAX = 8 * 1024 * 1024;
const FIRST_BYTES = 64 * 1024;
/** Texts up to this are encoded in place, with room for three bytes a character. */
const IN_PLACE_MAX = 16 * 1024;

const encoder = new TextEncoder();

export class Batch {
  #buffer: Uint8Array = new Uint8Array(FIRST_BYTES);
  #length = 0;
  #crc = 0;
  #lengthBefore = 0;
  #crcBefore = 0;

  /** Starts over, chained to `crc`. */
  begin(crc: number): void {
    this.#length = 0;
    this.#crc = crc;
    if (this.#buffer.length > KEPT_BYTES_MAX) this.#buffer = new Uint8Array(FIRST_BYTES);
  }

  /** Crc of the last record added. */
  get crc(): number {
    return this.#crc;
  }

  get length(): number {
    return this.#length;
  }

  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  add(numbers: { seq: number; durable: number }, bodyText: string): void {
    const text = frame(numbers, bodyText);
    const start = this.#length;
    const end = start + this.#encode(text);
    const crc = crc32(this.#buffer, start, end, this.#crc);
    writeTrailer(this.#buffer, end, crc);
    this.#lengthBefore = start;
    this.#crcBefore = this.#crc;
    this.#length = end + TRAILER_BYTES + 1;
    this.#crc = crc;
  }

  /** Takes back the record added last. */
  undo(): void {
    this.#length = this.#lengthBefore;
    this.#crc = this.#crcBefore;
  }

  #encode(text: string): number {
    if (text.length > IN_PLACE_MAX) {
      const encoded = encoder.encode(text);
      this.#reserve(encoded.length);
      this.#buffer.set(encoded, this.#length);
      return encoded.length;
    }
    this.#reserve(text.length * 3);
    return encoder.encodeInto(text, this.#buffer.subarray(this.#length)).written;
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes + FRAME_BYTES_MAX;
    if (needed <= this.#buffer.length) return;
    const grown = new Uint8Array(Math.max(needed, this.#buffer.length * 2));
    grown.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = grown;
  }
}

/** Length in UTF-8, exact. */
export function utf8Length(text: string): number {
  return encoder.encode(text).length;
}
