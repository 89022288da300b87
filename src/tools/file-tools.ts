/** The tools that read and change single files and folders of the actor's tree. */

import { z } from 'zod';
import { counted } from '../kernel/counted.ts';
import { ensureError } from '../kernel/index.ts';
import {
  FILE_BYTES_MAX,
  LINE_CHARS_MAX,
  LIST_ENTRIES_MAX,
  READ_BYTES_MAX,
  READ_LINES_MAX,
  WRITE_CHARS_MAX,
} from './limits.ts';
import { damagedLines, damageNote, type LongFile, showLongFile } from './long-file.ts';
import { lineEnding } from './text-edit.ts';
import {
  failed,
  makeTool,
  parameters,
  succeeded,
  type Tool,
  type ToolContext,
  type ToolOutcome,
} from './tool.ts';
import { binaryKind, checkPath, decodeText, explain, locate, readWritten } from './tree-access.ts';
import type { TreeFiles } from './tree-files.ts';

const path = z.string().min(1).describe('Relative to the root of your tree.');
const OUTPUT_PATH = /^outputs\/[\w.-]+\.log$/;
const encoder = new TextEncoder();

export const readFileTool: Tool = makeTool({
  name: 'read_file',
  description:
    'Reads a text file of your tree. Each line is shown with its number and a tab before it; the numbers are not part ' +
    `of the file. Shows up to ${READ_LINES_MAX} lines; for more, call again with offset, also in files of any size. Also reads the complete ` +
    'output of your own earlier calls (outputs/<id>.log), and the files of skills that you may load.',
  access: 'read',
  schema: parameters({
    path,
    offset: z.number().int().min(1).optional().describe('First line to show, from 1.'),
    limit: z.number().int().min(1).optional().describe('How many lines to show.'),
  }),
  check: (input, context) =>
    isOwnOutput(input.path, context) || isSkillFile(input.path, context)
      ? null
      : checkPath(input.path, 'read', context),
  run: async (input, context, signal) => {
    const found = await findAny(input.path, context);
    if (!found.ok) return failed(found.reason);
    const { path, readAt } = found;
    const shown = { path: input.path, offset: input.offset, limit: input.limit };
    try {
      const { bytes, size } = await readAt(0, PROBE_BYTES);
      if (size > FILE_BYTES_MAX) {
        const what = binaryKind(bytes);
        if (what !== null) return failed(`${path} is ${what} (${size} bytes)`);
        const wanted = { first: input.offset ?? 1, count: input.limit ?? READ_LINES_MAX };
        const { clock } = context;
        return await showLongFile({ path, size, readAt }, wanted, { clock, signal });
      }
      const whole = size <= bytes.length ? { bytes, size } : await readAt(0, FILE_BYTES_MAX);
      const file = decodeText(whole.bytes, { size: whole.size, path, exact: false });
      return file.ok ? showLines(file, shown) : failed(file.reason);
    } catch (error) {
      signal.throwIfAborted();
      const { tree } = found;
      return failed(
        tree === null ? ensureError(error).message : await explain(error, { tree, path }),
      );
    }
  },
});

export const writeFileTool: Tool = makeTool({
  name: 'write_file',
  description:
    'Writes a file of your tree: creates it with its folders, or replaces its whole content. To change a part of a ' +
    'file use edit_file.',
  access: 'write',
  schema: parameters({ path, content: z.string().max(WRITE_CHARS_MAX) }),
  check: (input, context) => checkPath(input.path, 'write', context),
  run: async (input, context) => {
    const file = await locate(input.path, 'write', context);
    if (!file.ok) return failed(file.reason);
    if (file.path === '') return failed('the root of your tree is a directory');
    try {
      const before = await file.tree.stat(file.real);
      if (before?.kind === 'directory') return failed(`${file.path} is a directory`);
      const bytes = encoder.encode(input.content);
      await file.tree.write(file.real, bytes);
      const verb = before === null ? 'created' : 'replaced';
      return succeeded(`${verb} ${file.path} (${bytes.length} bytes)`);
    } catch (error) {
      return failed(await explain(error, file));
    }
  },
  effect: async (input, context) => {
    const file = await readWritten(input.path, context);
    if (!file.ok) return 'not-done';
    return file.text === input.content ? 'done' : 'not-done';
  },
});

export const listDirTool: Tool = makeTool({
  name: 'list_dir',
  description:
    'Lists one folder of your tree, hidden entries too. Folders end with /, links with @. Without path: the root.',
  access: 'read',
  schema: parameters({
    path: z.string().optional().describe('Relative to the root of your tree.'),
  }),
  check: (input, context) => checkPath(input.path ?? '', 'read', context),
  run: async (input, context) => {
    const folder = await locate(input.path ?? '', 'read', context);
    if (!folder.ok) return failed(folder.reason);
    try {
      const entries = await folder.tree.list(folder.real);
      const lines = entries.slice(0, LIST_ENTRIES_MAX).map(({ name, kind }) => name + MARKS[kind]);
      if (entries.length > lines.length) {
        lines.push(`[${entries.length - lines.length} more entries: use glob with a pattern]`);
      }
      return succeeded(lines.length === 0 ? '(empty directory)' : lines.join('\n'));
    } catch (error) {
      return failed(await explain(error, folder));
    }
  },
});

const MARKS = { file: '', directory: '/', link: '@', other: '?' } as const;

function isOwnOutput(given: string, context: ToolContext): boolean {
  return OUTPUT_PATH.test(given) && context.ownsOutput(given);
}

function isSkillFile(given: string, context: ToolContext): boolean {
  return (context.skills?.file(given) ?? null) !== null;
}

type Found =
  | (Pick<LongFile, 'path' | 'readAt'> & { readonly ok: true; readonly tree: TreeFiles | null })
  | { readonly ok: false; readonly reason: string };

/** A file of the tree, of a skill, or an output of the actor's own. */
async function findAny(given: string, context: ToolContext): Promise<Found> {
  const brought = context.skills?.file(given) ?? null;
  if (brought !== null) return inTree(brought.tree, brought.path, brought.path);
  if (!isOwnOutput(given, context)) {
    const file = await locate(given, 'read', context);
    return file.ok ? inTree(file.tree, file.path, file.real) : file;
  }
  const { outputs } = context;
  if ((await outputs.read(given, 0)) === null) return { ok: false, reason: `${given} is gone` };
  const gone = { bytes: new Uint8Array(), size: 0 };
  const readAt: LongFile['readAt'] = async (offset, maxBytes) =>
    (await outputs.read(given, maxBytes, offset)) ?? gone;
  return { ok: true, tree: null, path: given, readAt };
}

function inTree(tree: TreeFiles, path: string, real: string): Found {
  const readAt: LongFile['readAt'] = (offset, maxBytes) => tree.read(real, maxBytes, offset);
  return { ok: true, tree, path, readAt };
}

/** Enough to know what a file is; most files are not larger. */
const PROBE_BYTES: number = 64 * 1024;

interface Shown {
  readonly path: string;
  readonly offset: number | undefined;
  readonly limit: number | undefined;
}

function showLines(
  file: { readonly bytes: Uint8Array; readonly text: string },
  shown: Shown,
): ToolOutcome {
  const content = file.text;
  const text = content.startsWith('\uFEFF') ? content.slice(1) : content;
  if (text === '') return succeeded('(empty file)');
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const first = shown.offset ?? 1;
  if (first > lines.length) {
    return failed(`${shown.path} has ${counted(lines.length, 'line')}; there is no line ${first}`);
  }
  const wanted = Math.min(shown.limit ?? READ_LINES_MAX, READ_LINES_MAX);
  const rows: string[] = [];
  let size = 0;
  for (const [index, line] of lines.slice(first - 1, first - 1 + wanted).entries()) {
    const row = `${String(first + index).padStart(5)}\t${fitLine(line)}`;
    size += row.length + 1;
    if (rows.length > 0 && size > READ_BYTES_MAX) break;
    rows.push(row);
  }
  const last = first + rows.length - 1;
  const notes: string[] = [];
  if (first > 1 || last < lines.length) notes.push(`lines ${first} to ${last} of ${lines.length}`);
  if (last < lines.length) notes.push(`go on with offset ${last + 1}`);
  if (lineEnding(text) === '\r\n') notes.push('line endings are CRLF');
  // U+FFFD may also stand in the file itself; the bytes tell.
  if (text.includes('\uFFFD')) notes.push(...damageNote(damagedLines(file.bytes, first, last)));
  const note = notes.length === 0 ? '' : `\n[${notes.join('; ')}]`;
  return succeeded(rows.join('\n') + note);
}

function fitLine(line: string): string {
  if (line.length <= LINE_CHARS_MAX) return line;
  return `${line.slice(0, LINE_CHARS_MAX)} [… cut: the line has ${line.length} characters]`;
}
