import type { FileStat } from '../../../src/kernel/index.ts';
import { TroupeError } from '../../../src/kernel/index.ts';
import type { TreeEntry, TreeFiles, TreeRead } from '../../../src/tools/index.ts';

const encoder = new TextEncoder();

/** A tree in memory: files by path, and links. Folders are there when something is in them. */
export class MemoryTree implements TreeFiles {
  readonly root: string;
  ignores: readonly string[] = [];
  readonly files: Map<string, Uint8Array> = new Map<string, Uint8Array>();
  readonly links: Map<string, string> = new Map<string, string>();
  /** What was done, one line each. */
  readonly log: string[] = [];
  /** Called before each read; may wait. */
  onRead: (path: string) => Promise<void> = () => Promise.resolve();

  constructor(files: Readonly<Record<string, string | Uint8Array>> = {}, root = '/tree') {
    this.root = root;
    for (const [path, content] of Object.entries(files)) {
      this.files.set(path, typeof content === 'string' ? encoder.encode(content) : content);
    }
  }

  text(path: string): string | null {
    const bytes = this.files.get(path);
    return bytes === undefined ? null : new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  }

  async real(path: string): Promise<string> {
    const parts: string[] = [];
    for (const part of path.split('/').filter(Boolean)) {
      parts.push(part);
      const target = this.links.get(parts.join('/'));
      if (target === undefined) continue;
      if (target.startsWith('/') || target.startsWith('..')) {
        throw new TroupeError({ code: 'tree/outside', message: `${path} leads out of your tree` });
      }
      parts.splice(0, parts.length, ...target.split('/'));
    }
    return parts.join('/');
  }

  async read(path: string, maxBytes: number, offset = 0): Promise<TreeRead> {
    await this.onRead(path);
    const bytes = this.files.get(path);
    if (bytes === undefined)
      throw systemError((await this.stat(path)) === null ? 'ENOENT' : 'EISDIR');
    return { bytes: bytes.subarray(offset, offset + maxBytes), size: bytes.length };
  }

  async write(path: string, bytes: Uint8Array): Promise<void> {
    this.log.push(`write ${path}`);
    this.files.set(path, bytes);
  }

  async stat(path: string): Promise<FileStat | null> {
    const bytes = this.files.get(path);
    if (bytes !== undefined) return { kind: 'file', size: bytes.length, mtimeMs: 0 };
    if (this.links.has(path)) return { kind: 'link', size: 0, mtimeMs: 0 };
    const isFolder = path === '' || this.#paths().some((known) => known.startsWith(`${path}/`));
    return isFolder ? { kind: 'directory', size: 0, mtimeMs: 0 } : null;
  }

  async list(path: string): Promise<TreeEntry[]> {
    const stat = await this.stat(path);
    if (stat === null) throw systemError('ENOENT');
    if (stat.kind !== 'directory') throw systemError('ENOTDIR');
    const prefix = path === '' ? '' : `${path}/`;
    const names = new Set(
      this.#paths()
        .filter((known) => known.startsWith(prefix))
        .map((known) => known.slice(prefix.length).split('/')[0] ?? ''),
    );
    const entries: TreeEntry[] = [];
    for (const name of [...names].toSorted()) {
      entries.push({ name, kind: (await this.stat(prefix + name))?.kind ?? 'other' });
    }
    return entries;
  }

  #paths(): string[] {
    return [...this.files.keys(), ...this.links.keys()];
  }
}

function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}
