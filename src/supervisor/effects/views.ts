/**
 * The view files of a run, for people and `tail -f`: one line an envelope and one line a session entry, and the task list.
 * They are never read back, never synced, and made anew from the journal at each term (design §3).
 */
import type { Clock, FileHandle, Files, Logger } from '../../kernel/index.ts';
import { ensureError } from '../../kernel/index.ts';
import { type MailProjection, projectMail } from '../../mailbox/index.ts';
import type { StoredRunRecord, TaskRow } from '../../protocol/index.ts';
import { renderTranscriptLine } from '../../sessions/index.ts';

const utf8 = new TextEncoder();

/** After a write of the task list, so many times its duration pass before the next one. */
const TASKS_REST_FACTOR = 20;

export class ViewFiles {
  private readonly files: Files;
  private readonly clock: Clock;
  private readonly logger: Logger;
  private readonly directory: string;
  private readonly mail: MailProjection = projectMail({ keepRows: false });
  private readonly pending = new Map<string, string[]>();
  private readonly handles = new Map<string, FileHandle>();
  private taskRows: (() => readonly TaskRow[]) | null = null;
  private writing: Promise<void> | null = null;
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

  /** Removes the views of an earlier term. */
  async open(): Promise<void> {
    await this.files.remove(this.directory);
    await this.files.makeDirectory(`${this.directory}/mailboxes`);
    await this.files.makeDirectory(`${this.directory}/sessions`);
  }

  /** Takes a durable record; records come in order. */
  note(record: StoredRunRecord): void {
    for (const change of this.mail.apply(record)) {
      if (change.kind !== 'accepted') continue;
      this.line(`mailboxes/${change.envelope.to}.jsonl`, JSON.stringify(change.envelope));
    }
    if (record.a === undefined) return;
    for (const entry of record.entries ?? []) {
      const placed = { seq: record.s, at: record.at, entry };
      this.line(`sessions/${record.a}.jsonl`, renderTranscriptLine(placed));
    }
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

  async close(): Promise<void> {
    this.closing.abort();
    await this.flush();
    await this.flush();
    for (const handle of this.handles.values()) await handle.close();
    this.handles.clear();
  }

  private async writeAll(): Promise<void> {
    while (this.pending.size > 0 || this.taskRows !== null) {
      await this.write();
      if (this.pending.size > 0 || this.taskRows === null) continue;
      const rest = this.tasksNotBefore - this.clock.monotonicMs();
      if (rest > 0) await this.clock.sleep(rest, this.closing.signal).catch(() => undefined);
    }
  }

  private line(name: string, text: string): void {
    const lines = this.pending.get(name);
    if (lines === undefined) this.pending.set(name, [text]);
    else lines.push(text);
  }

  private async write(): Promise<void> {
    const batch = [...this.pending];
    this.pending.clear();
    const began = this.clock.monotonicMs();
    const due = began >= this.tasksNotBefore || this.closing.signal.aborted;
    const rows = due ? this.taskRows : null;
    if (rows !== null || this.broken) this.taskRows = null;
    if (this.broken) return;
    try {
      for (const [name, lines] of batch) {
        const handle = await this.handle(name);
        writeWhole(handle, utf8.encode(`${lines.join('\n')}\n`));
      }
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

function writeWhole(handle: FileHandle, bytes: Uint8Array): void {
  let rest = bytes;
  while (rest.length > 0) rest = rest.subarray(handle.write(rest));
}
