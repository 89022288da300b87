/**
 * What is behind `MemoryFiles`: files and folders, each with a volatile state (what the process sees) and a durable one
 * (what stable storage is bound to have), and what a crash may leave of the difference.
 */
import type { Random } from '../kernel/index.ts';

/**
 * What is left of everything un-synced: `kill` all of it, and still un-synced (the process died, the machine did not);
 * after a power cut `none`, `all`, a random `prefix`, or random 512-byte `sectors`.
 */
export type CrashMode = 'kill' | 'none' | 'all' | 'prefix' | 'sectors';

export const CRASH_MODES: readonly CrashMode[] = ['kill', 'none', 'all', 'prefix', 'sectors'];

const SECTOR_BYTES = 512;
const EMPTY = new Uint8Array(0);

/** Bytes that grow at the end. */
class Bytes {
  #buffer: Uint8Array = EMPTY;
  length = 0;

  get view(): Uint8Array {
    return this.#buffer.subarray(0, this.length);
  }

  put(bytes: Uint8Array, at: number): void {
    const end = at + bytes.length;
    if (end > this.#buffer.length) {
      const grown = new Uint8Array(Math.max(end, this.#buffer.length * 2));
      grown.set(this.view);
      this.#buffer = grown;
    }
    if (at > this.length) this.#buffer.fill(0, this.length, at);
    this.#buffer.set(bytes, at);
    this.length = Math.max(this.length, end);
  }

  cut(length: number): void {
    if (length > this.length) this.put(new Uint8Array(length - this.length), this.length);
    this.length = length;
  }
}

export class FileNode {
  readonly kind = 'file';
  mtimeMs = 0;
  #seen: Bytes = new Bytes();
  #stable: Bytes = new Bytes();
  /** Lowest offset that changed since the last sync. */
  #dirtyFrom = Number.POSITIVE_INFINITY;

  get size(): number {
    return this.#seen.length;
  }

  read(position: number, length: number): Uint8Array {
    return this.#seen.view.slice(position, position + length);
  }

  append(bytes: Uint8Array): void {
    this.#dirtyFrom = Math.min(this.#dirtyFrom, this.#seen.length);
    this.#seen.put(bytes, this.#seen.length);
  }

  truncate(size: number): void {
    this.#dirtyFrom = Math.min(this.#dirtyFrom, size, this.#seen.length);
    this.#seen.cut(size);
  }

  sync(): void {
    if (this.#dirtyFrom === Number.POSITIVE_INFINITY) return;
    const from = Math.min(this.#dirtyFrom, this.#seen.length);
    this.#stable.cut(from);
    this.#stable.put(this.#seen.view.subarray(from), from);
    this.#dirtyFrom = Number.POSITIVE_INFINITY;
  }

  afterCrash(mode: CrashMode, random: Random): FileNode {
    const copy = new FileNode();
    copy.mtimeMs = this.mtimeMs;
    if (mode === 'kill') {
      copy.append(this.#stable.view);
      copy.sync();
      if (this.#dirtyFrom === Number.POSITIVE_INFINITY) return copy;
      copy.truncate(Math.min(this.#dirtyFrom, this.#stable.length));
      copy.append(this.#seen.view.subarray(copy.size));
      return copy;
    }
    copy.append(this.#left(mode, random));
    copy.sync();
    return copy;
  }

  #left(mode: Exclude<CrashMode, 'kill'>, random: Random): Uint8Array {
    const seen = this.#seen.view;
    const stable = this.#stable.view;
    if (mode === 'none') return stable;
    if (mode === 'all' || this.#dirtyFrom === Number.POSITIVE_INFINITY) return seen;
    const from = Math.min(this.#dirtyFrom, seen.length);
    if (mode === 'prefix') {
      if (from < stable.length && random.next() < 0.5) return stable;
      return seen.subarray(0, from + below(random, seen.length - from + 1));
    }
    return mixSectors({ seen, stable, from }, random);
  }
}

/** Each sector that changed is the old or the new one; the size, too. */
function mixSectors(
  content: { seen: Uint8Array; stable: Uint8Array; from: number },
  random: Random,
): Uint8Array {
  const { seen, stable, from } = content;
  const size = random.next() < 0.75 ? seen.length : stable.length;
  const mixed = new Uint8Array(size);
  mixed.set(seen.subarray(0, Math.min(from, size)));
  for (let at = from - (from % SECTOR_BYTES); at < size; at += SECTOR_BYTES) {
    const start = Math.max(at, from);
    const source = random.next() < 0.5 ? seen : stable;
    mixed.set(source.subarray(start, Math.min(at + SECTOR_BYTES, size)), start);
  }
  return mixed;
}

export type DiskNode = FileNode | FolderNode;

/** Changes of entries that reach the disk together: a rename within a folder is one. */
export type EntryChange = readonly (readonly [name: string, node: DiskNode | null])[];

export class FolderNode {
  readonly kind = 'directory';
  mtimeMs = 0;
  readonly entries: Map<string, DiskNode> = new Map();
  #stable: Map<string, DiskNode> = new Map();
  #pending: EntryChange[] = [];

  change(change: EntryChange): void {
    apply(this.entries, change);
    this.#pending.push(change);
  }

  sync(): void {
    for (const change of this.#pending) apply(this.#stable, change);
    this.#pending = [];
  }

  /** `seen` keeps hard links together. */
  afterCrash(mode: CrashMode, random: Random, seen: Map<DiskNode, DiskNode>): FolderNode {
    const copy = new FolderNode();
    copy.mtimeMs = this.mtimeMs;
    seen.set(this, copy);
    const renew = (node: DiskNode | null): DiskNode | null => {
      if (node === null) return null;
      const known = seen.get(node);
      if (known !== undefined) return known;
      const fresh =
        node.kind === 'file' ? node.afterCrash(mode, random) : node.afterCrash(mode, random, seen);
      seen.set(node, fresh);
      return fresh;
    };
    const renewAll = (change: EntryChange): EntryChange =>
      change.map(([name, node]) => [name, renew(node)] as const);
    copy.change(renewAll([...this.#stable]));
    copy.sync();
    const kept = keptOf(this.#pending.length, mode, random);
    for (const change of this.#pending.slice(0, kept)) copy.change(renewAll(change));
    if (mode !== 'kill') copy.sync();
    return copy;
  }
}

/** Folders are journalled by file systems, so their changes survive in order. */
function keptOf(pending: number, mode: CrashMode, random: Random): number {
  if (mode === 'none') return 0;
  if (mode === 'all' || mode === 'kill') return pending;
  return below(random, pending + 1);
}

function apply(entries: Map<string, DiskNode>, change: EntryChange): void {
  for (const [name, node] of change) {
    if (node === null) entries.delete(name);
    else entries.set(name, node);
  }
}

function below(random: Random, limit: number): number {
  return Math.floor(random.next() * limit);
}
