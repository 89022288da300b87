/**
 * The view files of a run, for people and `tail -f`: one line an envelope and one line a session entry, and the task list.
 * They are never read back. A term goes on with those of the one before when they are in step with the snapshot that it
 * begins with; else they are made anew from the journal (design §3).
 *
 * Invariants
 * - S8 What a snapshot says of the views was synced before it.
 */
import type { Clock, FileHandle, Files, Logger } from '../../kernel/index.ts';
import { ensureError } from '../../kernel/index.ts';
import type { MailChange } from '../../mailbox/index.ts';
import type { Envelope, StoredRunRecord, TaskRow } from '../../protocol/index.ts';
import { renderTranscriptLine } from '../../sessions/index.ts';
import type { ViewSizes } from '../snapshot.ts';

const utf8 = new TextEncoder();

/** After a write of the task list, so many times its duration pass before the next one. */
const TASKS_REST_FACTOR = 20;
const FOLDERS = ['mailboxes', 'sessions'];

export class ViewFiles {
  private readonly files: Files;
  private readonly clock: Clock;
  private readonly logger: Logger;
  private readonly directory: string;
  private readonly pending = new Map<string, string[]>();
  private readonly handles = new Map<string, FileHandle>();
  /** Bytes of each file, with those that are being written. */
  private readonly lengths = new Map<string, number>();
  private readonly unsynced = new Set<string>();
  /** Bytes of the files of an earlier term. */
  private readonly left = new Map<string, number>();
  /** What this term goes on with; null: nothing. */
  private kept: ViewSizes | null = null;
  private taskRows: (() => readonly TaskRow[]) | null = null;
  private writing: Promise<void> | null = null;
  private pass: Promise<void> = Promise.resolve();
  private readonly closing = new AbortController();
  private broken = false;
  /** Monotonic time before which the task list is not written again: it costs as much as the graph is large. */
  private tasksNotBefore = 0;

  constructor(options: { files: Files; clock: Clock; logger: Logger; directory: string }) {
    this.files = options.files;
    this.clock = options.clock;
    this.logger = options.logger;
    this.directory = options.directory;
  }

  /** Looks at what an earlier term left, for `keep`. */
  async look(): Promise<void> {
    for (const folder of FOLDERS) {
      const path = `${this.directory}/${folder}`;
      if ((await this.files.stat(path)) === null) continue;
      for (const name of await this.files.list(path)) {
        const stat = await this.files.stat(`${path}/${name}`);
        if (stat?.kind === 'file') this.left.set(`${folder}/${name}`, stat.size);
      }
    }
  }

  /** Goes on behind these bytes of what was left; false, and it begins anew, when that is not there. */
  keep(sizes: ViewSizes | null): boolean {
    const isThere = sizes !== null && [...sizes].every(([name, size]) => this.has(name, size));
    this.kept = isThere ? sizes : null;
    return isThere;
  }

  private has(name: string, size: number): boolean {
    return (this.left.get(name) ?? 0) >= size;
  }

  /** Before the first flush: takes away what is not kept. */
  async open(): Promise<void> {
    const { kept, files, directory } = this;
    if (kept === null) await files.remove(directory);
    else {
      for (const [name, size] of this.left) await this.cut(name, { size, to: kept.get(name) ?? 0 });
    }
    for (const folder of FOLDERS) await files.makeDirectory(`${directory}/${folder}`);
  }

  private async cut(name: string, bytes: { size: number; to: number }): Promise<void> {
    const path = `${this.directory}/${name}`;
    if (bytes.to === 0) return this.files.remove(path);
    this.lengths.set(name, bytes.to);
    if (bytes.size === bytes.to) return;
    const handle = await this.files.open(path, 'append');
    try {
      await handle.truncate(bytes.to);
    } finally {
      await handle.close();
    }
  }

  /** Bytes of each file, with all that was noted by now; null when they are not written any more. */
  sizes(): ViewSizes | null {
    if (this.broken) return null;
    const sizes = new Map(this.lengths);
    for (const [name, lines] of this.pending) {
      sizes.set(name, (sizes.get(name) ?? 0) + encodeLines(lines).length);
    }
    return sizes;
  }

  /** Resolves when all that was noted is on stable storage. */
  async sync(): Promise<void> {
    await this.writePass();
    const names = [...this.unsynced];
    if (names.length === 0) return;
    this.unsynced.clear();
    try {
      for (const name of names) await this.handles.get(name)?.datasync();
      for (const folder of FOLDERS) await this.files.syncDirectory(`${this.directory}/${folder}`);
    } catch (thrown) {
      for (const name of names) this.unsynced.add(name);
      throw thrown;
    }
  }

  /** Takes a durable record, and the letters that came with it; records come in order. */
  note(record: StoredRunRecord, letters: readonly Envelope[]): void {
    for (const [name, text] of viewLines(record, letters)) this.line(name, text);
  }

  /** The task list is written after the next lines; the rows are asked for then. */
  noteTasks(rows: () => readonly TaskRow[]): void {
    this.taskRows = rows;
  }

  /** Starts writing what was noted, and goes on until nothing is left; one write at a time. */
  flush(): Promise<void> {
    this.writing ??= this.writeAll().finally(() => {
      this.writing = null;
    });
    return this.writing;
  }

  /** The end is near: nothing rests any more. */
  hurry(): void {
    this.closing.abort();
  }

  async close(): Promise<void> {
    this.hurry();
    await this.flush();
    await this.flush();
    for (const handle of this.handles.values()) await handle.close();
    this.handles.clear();
  }

  private async writeAll(): Promise<void> {
    while (this.pending.size > 0 || this.taskRows !== null) {
      await this.writePass();
      if (this.pending.size > 0 || this.taskRows === null) continue;
      const rest = this.tasksNotBefore - this.clock.monotonicMs();
      if (rest > 0) await this.clock.sleep(rest, this.closing.signal).catch(() => undefined);
    }
  }

  /** One after the other, so that lines keep their order. */
  private writePass(): Promise<void> {
    this.pass = this.pass.then(() => this.write());
    return this.pass;
  }

  private line(name: string, text: string): void {
    const lines = this.pending.get(name);
    if (lines === undefined) this.pending.set(name, [text]);
    else lines.push(text);
  }

  private async write(): Promise<void> {
    const batch = this.takePending();
    const began = this.clock.monotonicMs();
    const due = began >= this.tasksNotBefore || this.closing.signal.aborted;
    const rows = due ? this.taskRows : null;
    if (rows !== null || this.broken) this.taskRows = null;
    if (this.broken) return;
    try {
      for (const [name, bytes] of batch) writeWhole(await this.handle(name), bytes);
      if (rows === null) return;
      await this.replace('tasks.json', JSON.stringify(rows(), null, 2));
      const now = this.clock.monotonicMs();
      this.tasksNotBefore = now + TASKS_REST_FACTOR * (now - began);
    } catch (thrown) {
      // Views can be made anew; a run does not end for want of one.
      this.broken = true;
      this.logger.log('warn', 'the view files are not written any more', {
        cause: ensureError(thrown).message,
      });
    }
  }

  private takePending(): [string, Uint8Array][] {
    const batch: [string, Uint8Array][] = [];
    for (const [name, lines] of this.pending) {
      const bytes = encodeLines(lines);
      batch.push([name, bytes]);
      this.lengths.set(name, (this.lengths.get(name) ?? 0) + bytes.length);
      this.unsynced.add(name);
    }
    this.pending.clear();
    return batch;
  }

  private async handle(name: string): Promise<FileHandle> {
    const known = this.handles.get(name);
    if (known !== undefined) return known;
    const handle = await this.files.open(`${this.directory}/${name}`, 'append');
    this.handles.set(name, handle);
    return handle;
  }

  private async replace(name: string, text: string): Promise<void> {
    const path = `${this.directory}/${name}`;
    await this.files.remove(`${path}.new`);
    const handle = await this.files.open(`${path}.new`, 'create');
    try {
      writeWhole(handle, utf8.encode(text));
    } finally {
      await handle.close();
    }
    await this.files.rename(`${path}.new`, path);
  }
}

function encodeLines(lines: readonly string[]): Uint8Array {
  return utf8.encode(`${lines.join('\n')}\n`);
}

function writeWhole(handle: FileHandle, bytes: Uint8Array): void {
  let rest = bytes;
  while (rest.length > 0) rest = rest.subarray(handle.write(rest));
}

/** For the views: `change` of one record. */
export function noteLetter(letters: Envelope[], change: MailChange): void {
  if (change.kind === 'accepted') letters.push(change.envelope);
}

/** What a record adds to the views, with the letters that came with it: file and line. */
export function viewLines(
  record: StoredRunRecord,
  letters: readonly Envelope[],
): (readonly [name: string, text: string])[] {
  const lines: (readonly [string, string])[] = [];
  for (const letter of letters) {
    lines.push([`mailboxes/${letter.to}.jsonl`, JSON.stringify(letter)]);
  }
  if (record.a === undefined) return lines;
  for (const entry of record.entries ?? []) {
    const placed = { seq: record.s, at: record.at, entry };
    lines.push([`sessions/${record.a}.jsonl`, renderTranscriptLine(placed)]);
  }
  return lines;
}
