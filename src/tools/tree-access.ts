/**
 * The one way from a tool to the tree: each path goes through the guard as it was given and again with its links
 * resolved, and what the file system says becomes words for the model.
 */
import { ensureError, isTroupeError, nearMatches, systemCode } from '../kernel/index.ts';
import { BINARY_PROBE_BYTES, FILE_BYTES_MAX } from './limits.ts';
import { type Access, guardPath, protectedReason } from './path-guard.ts';
import type { ToolContext } from './tool.ts';
import type { TreeFiles } from './tree-files.ts';

const NO_TASK = 'you have no task: claim one first';
const NO_TREE = 'you have no working tree: there is nothing to read yet';

export type Located =
  | {
      readonly ok: true;
      readonly tree: TreeFiles;
      /** As shown. */
      readonly path: string;
      /** With links resolved; what is opened. */
      readonly real: string;
    }
  | { readonly ok: false; readonly reason: string };

/** The lexical half, without I/O: why the call can't be made; null when nothing speaks against it. */
export function checkPath(path: string, access: Access, context: ToolContext): string | null {
  if (access === 'write' && !context.writable) return NO_TASK;
  if (context.tree === null) return NO_TREE;
  const guarded = guardPath(path, { access, root: context.tree.root });
  return guarded.ok ? null : guarded.reason;
}

export async function locate(
  given: string,
  access: Access,
  context: ToolContext,
): Promise<Located> {
  const { tree, writable } = context;
  if (access === 'write' && !writable) return { ok: false, reason: NO_TASK };
  if (tree === null) return { ok: false, reason: NO_TREE };
  const guarded = guardPath(given, { access, root: tree.root });
  if (!guarded.ok) return guarded;
  try {
    const real = await tree.real(guarded.path);
    const reason = protectedReason(real.split('/').filter(Boolean), access);
    if (reason !== null) return { ok: false, reason: `"${given}" is a link: ${reason}` };
    return { ok: true, tree, path: guarded.path, real };
  } catch (error) {
    return { ok: false, reason: await explain(error, { tree, path: guarded.path }) };
  }
}

export type TextFile =
  | { readonly ok: true; readonly bytes: Uint8Array; readonly text: string }
  | { readonly ok: false; readonly reason: string };

/** A whole text file. `exact`: refuse bytes that are not UTF-8, because writing them back would change them. */
export async function readText(
  file: { readonly tree: TreeFiles; readonly path: string; readonly real: string },
  options: { readonly exact: boolean },
): Promise<TextFile> {
  try {
    const { bytes, size } = await file.tree.read(file.real, FILE_BYTES_MAX);
    return decodeText(bytes, { size, path: file.path, exact: options.exact });
  } catch (error) {
    return { ok: false, reason: await explain(error, file) };
  }
}

/** What a call that was cut may have written. */
export async function readWritten(given: string, context: ToolContext): Promise<TextFile> {
  const file = await locate(given, 'read', context);
  return file.ok ? readText(file, { exact: true }) : file;
}

export function decodeText(
  bytes: Uint8Array,
  file: { readonly size: number; readonly path: string; readonly exact: boolean },
): TextFile {
  const { size, path } = file;
  const what = binaryKind(bytes);
  if (what !== null) return { ok: false, reason: `${path} is ${what} (${size} bytes)` };
  if (size > FILE_BYTES_MAX) {
    return {
      ok: false,
      reason: `${path} is too large (${size} bytes, at most ${FILE_BYTES_MAX}): use grep, or bash with head, tail or sed`,
    };
  }
  try {
    return { ok: true, bytes, text: decodeUtf8(bytes, { exact: file.exact }) };
  } catch {
    return { ok: false, reason: `${path} is not UTF-8 text; an edit would damage it` };
  }
}

/** By its first bytes; null: it may be text. */
export function binaryKind(bytes: Uint8Array): string | null {
  const start = String.fromCharCode(...bytes.subarray(0, 12));
  for (const [name, magic] of IMAGES) if (magic.test(start)) return `${name} image, not text`;
  return isBinary(bytes) ? 'a binary file' : null;
}

const IMAGES: readonly (readonly [string, RegExp])[] = [
  ['a PNG', /^\x89PNG/],
  ['a JPEG', /^\xff\xd8\xff/],
  ['a GIF', /^GIF8[79]a/],
  ['a WebP', /^RIFF[^]{4}WEBP/],
];

export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, BINARY_PROBE_BYTES).includes(0);
}

/** Keeps a byte order mark. `exact`: throws on what is not UTF-8; otherwise it becomes U+FFFD. */
export function decodeUtf8(bytes: Uint8Array, options: { readonly exact: boolean }): string {
  return new TextDecoder('utf-8', { fatal: options.exact, ignoreBOM: true }).decode(bytes);
}

/** What went wrong, for the model. */
export async function explain(
  error: unknown,
  at: { readonly tree: TreeFiles; readonly path: string },
): Promise<string> {
  const shown = at.path === '' ? 'the root of your tree' : at.path;
  switch (systemCode(error)) {
    case 'ENOENT':
    case 'path/not-found':
      return `${shown} does not exist${await nearby(at)}`;
    case 'EISDIR':
      return `${shown} is a directory: use list_dir`;
    case 'ENOTDIR':
    case 'path/not-a-directory':
      return `${shown}: a part of this path is a file, not a directory`;
    case 'ELOOP':
      return `${shown} is a link that can not be followed`;
    case 'EACCES':
    case 'EPERM':
      return `${shown}: permission denied`;
    case 'ENAMETOOLONG':
      return 'the path is too long';
    case 'ENOSPC':
      return `${shown}: no space left on the device`;
    default:
      // A `TroupeError` names the path itself.
      return isTroupeError(error) ? error.message : `${shown}: ${ensureError(error).message}`;
  }
}

async function nearby(at: { readonly tree: TreeFiles; readonly path: string }): Promise<string> {
  const slash = at.path.lastIndexOf('/');
  const folder = at.path.slice(0, Math.max(slash, 0));
  const wanted = at.path.slice(slash + 1);
  if (wanted.length < 4) return '';
  try {
    const names = (await at.tree.list(folder)).map((entry) => entry.name);
    const near = nearMatches(wanted, names);
    if (near.length === 0) return '';
    const prefix = folder === '' ? '' : `${folder}/`;
    return `; did you mean ${near.map((name) => prefix + name).join(' or ')}?`;
  } catch {
    return '';
  }
}
