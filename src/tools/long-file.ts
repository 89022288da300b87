/** Lines of a file that is too large to be held whole: read through piece by piece, with bounded memory and time. */
import { counted } from '../kernel/counted.ts';
import type { Clock } from '../kernel/index.ts';
import {
  LINE_BYTES_MAX,
  LINE_CHARS_MAX,
  PIECE_BYTES,
  READ_BYTES_MAX,
  READ_LINES_MAX,
  READ_MS_MAX,
} from './limits.ts';
import { failed, succeeded, type ToolOutcome } from './tool.ts';
import type { TreeRead } from './tree-files.ts';
import { Breather } from './walk.ts';

export interface LongFile {
  /** As shown. */
  readonly path: string;
  /** When it was opened first. */
  readonly size: number;
  readonly readAt: (offset: number, maxBytes: number) => Promise<TreeRead>;
}

export interface WantedLines {
  /** From 1. */
  readonly first: number;
  readonly count: number;
}

const LF = 0x0a;
/** Enough for the characters of a line that are shown, however they are encoded. */
const KEPT_BYTES = LINE_CHARS_MAX * 4;

export async function showLongFile(
  file: LongFile,
  wanted: WantedLines,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<ToolOutcome> {
  const rows = new LongRows(wanted);
  const breather = new Breather(clock);
  const deadline = clock.monotonicMs() + READ_MS_MAX;
  let offset = 0;
  while (!rows.full) {
    await breather.breathe(signal);
    if (rows.empty && clock.monotonicMs() > deadline) {
      return failed(
        `${file.path} has ${file.size} bytes, and line ${wanted.first} was not reached within ${READ_MS_MAX / 1000} s ` +
          `(so far: ${counted(rows.line - 1, 'line')} in ${offset} bytes): use grep, or bash with tail or sed`,
      );
    }
    const { bytes } = await file.readAt(offset, PIECE_BYTES);
    if (bytes.length === 0) {
      rows.end();
      break;
    }
    offset += bytes.length;
    rows.take(bytes);
  }
  if (rows.empty) {
    return failed(
      `${file.path} has ${counted(rows.line - 1, 'line')}; there is no line ${wanted.first}`,
    );
  }
  return succeeded(rows.shown(file.size));
}

class LongRows {
  readonly #wanted: WantedLines;
  readonly #rows: string[] = [];
  readonly #damaged: number[] = [];
  #chars = 0;
  #crlf = 0;
  /** The line that is read now; its first bytes, and how many it has so far. */
  line = 1;
  #kept: Uint8Array[] = [];
  #bytes = 0;
  #ended = false;
  #stopped: string | null = null;
  full = false;

  constructor(wanted: WantedLines) {
    this.#wanted = { ...wanted, count: Math.min(wanted.count, READ_LINES_MAX) };
  }

  get empty(): boolean {
    return this.#rows.length === 0;
  }

  take(piece: Uint8Array): void {
    let at = 0;
    while (at < piece.length && !this.full) {
      const end = piece.indexOf(LF, at);
      const part = piece.subarray(at, end < 0 ? piece.length : end);
      if (this.line >= this.#wanted.first) this.#keep(part);
      else this.#bytes += part.length;
      if (end < 0) break;
      this.#endLine();
      at = end + 1;
    }
    if (this.line >= this.#wanted.first && this.#bytes > LINE_BYTES_MAX && !this.full) {
      this.#stopped = `line ${this.line} goes on for more than ${LINE_BYTES_MAX} bytes: what follows it is not shown`;
      this.#endLine();
      this.full = true;
    }
  }

  /** The last line may have no end of its own. */
  end(): void {
    if (this.#bytes > 0) this.#endLine();
    this.#ended = true;
  }

  shown(size: number): string {
    const last = this.line - 1;
    const notes = [`lines ${last - this.#rows.length + 1} to ${last}`];
    if (this.#ended) notes[0] += ` of ${last}`;
    notes.push(`the file has ${size} bytes`);
    if (this.#stopped !== null) notes.push(this.#stopped);
    else if (!this.#ended) notes.push(`go on with offset ${this.line}`);
    if (this.#crlf * 2 > this.#rows.length) notes.push('line endings are CRLF');
    notes.push(...damageNote(this.#damaged));
    return `${this.#rows.join('\n')}\n[${notes.join('; ')}]`;
  }

  #keep(part: Uint8Array): void {
    const left = KEPT_BYTES - this.#bytes;
    // A copy: the piece as a whole is let go.
    if (left > 0) this.#kept.push(part.slice(0, left));
    this.#bytes += part.length;
  }

  #endLine(): void {
    const bytes = this.#bytes;
    const kept = joined(this.#kept);
    this.#kept = [];
    this.#bytes = 0;
    const number = this.line;
    if (number < this.#wanted.first) {
      this.line += 1;
      return;
    }
    const { text, damaged } = decodeLine(kept, kept.length < bytes);
    const row = `${String(number).padStart(5)}\t${fit(number === 1 ? withoutMark(text) : text, bytes)}`;
    if (this.#rows.length > 0 && this.#chars + row.length + 1 > READ_BYTES_MAX) {
      this.full = true;
      return;
    }
    this.line += 1;
    this.#rows.push(row);
    this.#chars += row.length + 1;
    if (text.endsWith('\r')) this.#crlf += 1;
    if (damaged) this.#damaged.push(number);
    if (this.#rows.length >= this.#wanted.count) this.full = true;
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function fit(text: string, bytes: number): string {
  if (text.length <= LINE_CHARS_MAX && bytes <= KEPT_BYTES) return text;
  return `${text.slice(0, LINE_CHARS_MAX)} [… cut: the line has ${bytes} bytes or more]`;
}

function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

/** `cut`: what is missing of its last character is no damage. */
function decodeLine(bytes: Uint8Array, cut: boolean): { text: string; damaged: boolean } {
  const stream = { stream: cut };
  try {
    const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    return { text: strict.decode(bytes, stream), damaged: false };
  } catch {
    const lenient = new TextDecoder('utf-8', { ignoreBOM: true });
    return { text: lenient.decode(bytes, stream), damaged: true };
  }
}

/** Lines from `first` to `last` (from 1) that hold bytes which are no UTF-8. */
export function damagedLines(bytes: Uint8Array, first: number, last: number): number[] {
  const damaged: number[] = [];
  let at = 0;
  for (let line = 1; line <= last && at < bytes.length; line += 1) {
    const lineFeed = bytes.indexOf(LF, at);
    const end = lineFeed < 0 ? bytes.length : lineFeed;
    if (line >= first && decodeLine(bytes.subarray(at, end), false).damaged) damaged.push(line);
    at = end + 1;
  }
  return damaged;
}

const NAMED_LINES = 5;

/** What is said of them; nothing when there are none. */
export function damageNote(lines: readonly number[]): string[] {
  if (lines.length === 0) return [];
  const named = lines.slice(0, NAMED_LINES).join(', ');
  const more = lines.length > NAMED_LINES ? ` and ${lines.length - NAMED_LINES} more` : '';
  const where = `line${lines.length === 1 ? '' : 's'} ${named}${more}`;
  return [`bytes that are not UTF-8 are shown as \uFFFD (${where}); edit_file refuses such a file`];
}
