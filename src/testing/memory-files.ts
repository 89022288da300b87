/**
 * `Files` in memory, with a disk's freedom to lose what was not synced: content is durable after `datasync`, entries of a
 * folder after `syncDirectory`. Faults are injected; `crash` gives the disk that the next start finds.
 */
import type { Clock, FileHandle, FileStat, Files, Random } from '../kernel/index.ts';
import type { CrashMode, DiskNode } from './memory-disk.ts';
import { FileNode, FolderNode } from './memory-disk.ts';
import { SeededRandom } from './seeded-random.ts';

export type FileOperationKind =
  | 'open'
  | 'write'
  | 'read'
  | 'datasync'
  | 'truncate'
  | 'close'
  | 'stat'
  | 'list'
  | 'makeDirectory'
  | 'rename'
  | 'link'
  | 'remove'
  | 'syncDirectory';

export interface FileOperation {
  readonly kind: FileOperationKind;
  readonly path: string;
  /** From 1, over all operations of this object. */
  readonly number: number;
}

export interface FileFault {
  readonly kind: FileOperationKind;
  /** A system code: `EIO`, `ENOSPC`, `EACCES`. */
  readonly code: string;
  /** Only paths that end so. */
  readonly path?: string;
  /** Passes that many matching operations first; default 0. */
  readonly after?: number;
  /** How many fail; default 1. */
  readonly times?: number;
}

export interface MemoryFilesOptions {
  /** Draws what a crash leaves; default a fixed seed. */
  readonly random?: Random;
  /** For modification times; default a counter. */
  readonly clock?: Pick<Clock, 'now'>;
}

interface PlannedFault {
  readonly fault: FileFault;
  passes: number;
  left: number;
}

interface Watcher {
  readonly path: string;
  readonly call: () => void;
  queued: boolean;
}

export class MemoryFiles implements Files {
  /** Called before each operation takes effect; may throw in its place, or call `crash`. */
  before: ((operation: FileOperation) => void) | null = null;
  /** Bytes that still fit; null: no end. A write that fits in part is short, the next one gets ENOSPC. */
  spaceLeft: number | null = null;
  /** Most that one write call takes; null: all. */
  writeBytesMax: number | null = null;
  #random: Random;
  #options: MemoryFilesOptions;
  #root: FolderNode = new FolderNode();
  #dead = false;
  #operations = 0;
  #ticks = 0;
  #faults: PlannedFault[] = [];
  #watchers: Watcher[] = [];

  constructor(options: MemoryFilesOptions = {}) {
    this.#options = options;
    this.#random = options.random ?? new SeededRandom('memory-files');
  }

  /** Operations so far. */
  get operations(): number {
    return this.#operations;
  }

  fail(fault: FileFault): void {
    this.#faults.push({ fault, passes: fault.after ?? 0, left: fault.times ?? 1 });
  }

  /**
   * The disk as the next process finds it. This object is then dead, like the process that used it: its pending and
   * later operations never settle (`write` throws). May be called again, for another mode of the same moment.
   */
  crash(mode: CrashMode): MemoryFiles {
    this.#dead = true;
    return this.fork(mode);
  }

  /** What a crash now would leave, while this disk and its process go on. */
  fork(mode: CrashMode): MemoryFiles {
    const next = new MemoryFiles({ ...this.#options, random: this.#random });
    next.#root = this.#root.afterCrash(mode, this.#random, new Map());
    return next;
  }

  async open(path: string, mode: 'append' | 'create' | 'read'): Promise<FileHandle> {
    if (!this.#enter('open', path)) return await never();
    const { folder, name } = this.#parent('open', path);
    const found = folder.entries.get(name);
    if (found === undefined) {
      if (mode === 'read') throw systemError('ENOENT', 'open', path);
      const file = new FileNode();
      file.mtimeMs = this.#tick();
      folder.change([[name, file]]);
      this.#changed(path);
      return this.#handle(path, file, true);
    }
    if (mode === 'create') throw systemError('EEXIST', 'open', path);
    if (found.kind !== 'file') throw systemError('EISDIR', 'open', path);
    return this.#handle(path, found, mode === 'append');
  }

  async readFile(path: string, bytesMax: number = Number.POSITIVE_INFINITY): Promise<Uint8Array> {
    if (!this.#enter('read', path)) return await never();
    const node = this.#find(path);
    if (node === null) throw systemError('ENOENT', 'open', path);
    if (node.kind !== 'file') throw systemError('EISDIR', 'read', path);
    if (node.size > bytesMax) throw systemError('EFBIG', 'read', path);
    return node.read(0, node.size);
  }

  async stat(path: string): Promise<FileStat | null> {
    if (!this.#enter('stat', path)) return await never();
    const node = this.#find(path);
    if (node === null) return null;
    return { kind: node.kind, size: node.kind === 'file' ? node.size : 0, mtimeMs: node.mtimeMs };
  }

  async list(path: string): Promise<string[]> {
    if (!this.#enter('list', path)) return await never();
    return [...this.#folder('scandir', path).entries.keys()].toSorted();
  }

  async makeDirectory(path: string): Promise<void> {
    if (!this.#enter('makeDirectory', path)) return await never();
    let folder = this.#root;
    for (const name of partsOf(path)) {
      const found = folder.entries.get(name);
      if (found?.kind === 'file') throw systemError('EEXIST', 'mkdir', path);
      const next = found ?? new FolderNode();
      if (found === undefined) {
        next.mtimeMs = this.#tick();
        folder.change([[name, next]]);
      }
      folder = next;
    }
    this.#changed(path);
  }

  async rename(from: string, to: string): Promise<void> {
    if (!this.#enter('rename', from)) return await never();
    const source = this.#parent('rename', from);
    const target = this.#parent('rename', to);
    const node = source.folder.entries.get(source.name);
    if (node === undefined) throw systemError('ENOENT', 'rename', from);
    this.#checkReplaced(node, target.folder.entries.get(target.name), to);
    if (source.folder === target.folder) {
      const change: [string, DiskNode | null][] = [[target.name, node]];
      if (source.name !== target.name) change.unshift([source.name, null]);
      source.folder.change(change);
    } else {
      target.folder.change([[target.name, node]]);
      source.folder.change([[source.name, null]]);
    }
    this.#changed(from);
    this.#changed(to);
  }

  async link(from: string, to: string): Promise<void> {
    if (!this.#enter('link', from)) return await never();
    const source = this.#parent('link', from);
    const node = source.folder.entries.get(source.name);
    if (node === undefined) throw systemError('ENOENT', 'link', from);
    if (node.kind !== 'file') throw systemError('EPERM', 'link', from);
    const target = this.#parent('link', to);
    if (target.folder.entries.has(target.name)) throw systemError('EEXIST', 'link', to);
    target.folder.change([[target.name, node]]);
    this.#changed(to);
  }

  async remove(path: string): Promise<void> {
    if (!this.#enter('remove', path)) return await never();
    if (this.#find(path) === null) return;
    const { folder, name } = this.#parent('rm', path);
    const node = folder.entries.get(name);
    if (node !== undefined) this.#give(bytesIn(node));
    folder.change([[name, null]]);
    this.#changed(path);
  }

  async syncDirectory(path: string): Promise<void> {
    if (!this.#enter('syncDirectory', path)) return await never();
    this.#folder('open', path).sync();
  }

  watch(path: string, onChange: () => void, signal: AbortSignal): void {
    if (signal.aborted) return;
    const watcher: Watcher = { path: trimmed(path), call: onChange, queued: false };
    this.#watchers.push(watcher);
    const stop = (): void => {
      this.#watchers = this.#watchers.filter((other) => other !== watcher);
    };
    signal.addEventListener('abort', stop, { once: true });
  }

  #handle(path: string, file: FileNode, writable: boolean): FileHandle {
    let open = true;
    const enter = (kind: FileOperationKind): boolean => {
      if (!this.#enter(kind, path)) return false;
      if (!open) throw systemError('EBADF', kind, path);
      return true;
    };
    return {
      write: (bytes) => {
        if (!this.#enter('write', path)) throw systemError('EPOWER', 'write', path);
        if (!open || !writable) throw systemError('EBADF', 'write', path);
        return this.#write(file, bytes, path);
      },
      read: async (position, length) => {
        if (!enter('read')) return await never();
        return file.read(position, length);
      },
      datasync: async () => {
        if (!enter('datasync')) return await never();
        file.sync();
      },
      truncate: async (size) => {
        if (!enter('truncate')) return await never();
        if (!writable) throw systemError('EINVAL', 'ftruncate', path);
        this.#give(file.size - size);
        file.truncate(size);
        this.#changed(path);
      },
      size: async () => {
        if (!enter('stat')) return await never();
        return file.size;
      },
      close: async () => {
        if (!this.#enter('close', path)) return await never();
        open = false;
      },
    };
  }

  #write(file: FileNode, bytes: Uint8Array, path: string): number {
    const most = Math.min(this.writeBytesMax ?? bytes.length, this.spaceLeft ?? bytes.length);
    if (this.spaceLeft === 0 && bytes.length > 0) throw systemError('ENOSPC', 'write', path);
    const taken = bytes.subarray(0, most);
    file.append(taken);
    file.mtimeMs = this.#tick();
    this.#give(-taken.length);
    this.#changed(path);
    return taken.length;
  }

  #give(bytes: number): void {
    if (this.spaceLeft !== null) this.spaceLeft += bytes;
  }

  /**
   * False when the process is gone. The effect then follows at once, so that what is written while a sync is under way
   * is not covered by it.
   */
  #enter(kind: FileOperationKind, path: string): boolean {
    if (!this.#dead) this.#begin(kind, path);
    return !this.#dead;
  }

  #begin(kind: FileOperationKind, path: string): void {
    this.#operations += 1;
    this.before?.({ kind, path, number: this.#operations });
    if (this.#dead) return;
    for (const planned of this.#faults) {
      const { fault } = planned;
      if (planned.left === 0 || fault.kind !== kind) continue;
      if (fault.path !== undefined && !path.endsWith(fault.path)) continue;
      if (planned.passes > 0) {
        planned.passes -= 1;
        continue;
      }
      planned.left -= 1;
      throw systemError(fault.code, kind, path);
    }
  }

  #tick(): number {
    this.#ticks += 1;
    return this.#options.clock?.now() ?? this.#ticks;
  }

  #changed(path: string): void {
    const changed = trimmed(path);
    const parent = changed.slice(0, changed.lastIndexOf('/'));
    for (const watcher of this.#watchers) {
      if (watcher.queued || (watcher.path !== changed && watcher.path !== parent)) continue;
      watcher.queued = true;
      queueMicrotask(() => {
        watcher.queued = false;
        if (this.#watchers.includes(watcher)) watcher.call();
      });
    }
  }

  #checkReplaced(node: DiskNode, replaced: DiskNode | undefined, path: string): void {
    if (replaced === undefined || replaced === node) return;
    if (node.kind === 'file' && replaced.kind !== 'file')
      throw systemError('EISDIR', 'rename', path);
    if (node.kind === 'file') return;
    if (replaced.kind === 'file') throw systemError('ENOTDIR', 'rename', path);
    if (replaced.entries.size > 0) throw systemError('ENOTEMPTY', 'rename', path);
  }

  #find(path: string): DiskNode | null {
    let node: DiskNode = this.#root;
    for (const name of partsOf(path)) {
      const next: DiskNode | undefined = node.kind === 'file' ? undefined : node.entries.get(name);
      if (next === undefined) return null;
      node = next;
    }
    return node;
  }

  #folder(call: string, path: string): FolderNode {
    const node = this.#find(path);
    if (node === null) throw systemError('ENOENT', call, path);
    if (node.kind === 'file') throw systemError('ENOTDIR', call, path);
    return node;
  }

  #parent(call: string, path: string): { folder: FolderNode; name: string } {
    const parts = partsOf(path);
    const name = parts.pop();
    if (name === undefined) throw systemError('EBUSY', call, path);
    return { folder: this.#folder(call, `/${parts.join('/')}`), name };
  }
}

function bytesIn(node: DiskNode): number {
  if (node.kind === 'file') return node.size;
  let bytes = 0;
  for (const child of node.entries.values()) bytes += bytesIn(child);
  return bytes;
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.');
}

function trimmed(path: string): string {
  return `/${partsOf(path).join('/')}`;
}

function systemError(code: string, call: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${call} '${path}'`), { code, syscall: call, path });
}

/** What a process gets that is no more. */
function never(): Promise<never> {
  return new Promise(() => undefined);
}
