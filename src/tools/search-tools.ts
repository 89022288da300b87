/** The tools that look through the tree: `glob` by name, `grep` by content. */

import picomatch from 'picomatch';
import { z } from 'zod';
import { counted } from '../kernel/counted.ts';
import { ensureError } from '../kernel/index.ts';
import {
  GLOB_PATHS_MAX,
  GREP_CONTEXT_MAX,
  GREP_FILE_BYTES_MAX,
  GREP_FILE_MS_MAX,
  GREP_LINE_CHARS,
  GREP_MATCHES_MAX,
  GREP_MS_MAX,
  PATTERN_CHARS_MAX,
} from './limits.ts';
import {
  failed,
  makeTool,
  parameters,
  succeeded,
  type Tool,
  type ToolContext,
  type ToolOutcome,
} from './tool.ts';
import { checkPath, decodeUtf8, explain, isBinary, type Located, locate } from './tree-access.ts';
import { Breather, newWalk, unreadNote, type WalkState, walkFiles } from './walk.ts';

const folder = z.string().optional().describe('Where to look, relative to the root of your tree.');

export const globTool: Tool = makeTool({
  name: 'glob',
  description:
    'Lists files whose path matches a pattern (`src/**/*.ts`, `**/*.{js,mjs}`), relative to path. Hidden files are ' +
    'included; .git, node_modules and what .gitignore excludes are not.',
  access: 'read',
  schema: parameters({ pattern: z.string().min(1).max(PATTERN_CHARS_MAX), path: folder }),
  check: (input, context) => checkPath(input.path ?? '', 'read', context),
  run: async (input, context, signal) => {
    const start = await locate(input.path ?? '', 'read', context);
    if (!start.ok) return failed(start.reason);
    const matches = compileGlob(input.pattern, false);
    if (typeof matches === 'string') return failed(matches);
    const state = newWalk();
    const found: string[] = [];
    const prefix = start.real === '' ? 0 : start.real.length + 1;
    try {
      const breather = new Breather(context.clock);
      const without = context.shut?.globs;
      const files = walkFiles(start.tree, { from: start.real, state, breather, signal, without });
      for await (const path of files) {
        if (!matches(path.slice(prefix)) || context.shut?.mayShow(path) === false) continue;
        if (found.length >= GLOB_PATHS_MAX) {
          found.push(`[cut at ${GLOB_PATHS_MAX} paths: use a narrower pattern]`);
          break;
        }
        found.push(path);
      }
    } catch (error) {
      signal.throwIfAborted();
      return failed(await explain(error, start));
    }
    const notes = unreadNote(state.unread);
    if (state.truncated) notes.push('[the tree is too large to be walked whole: give a path]');
    return succeeded([...(found.length === 0 ? ['no file matches'] : found), ...notes].join('\n'));
  },
});

export const grepTool: Tool = makeTool({
  name: 'grep',
  description:
    'Searches the lines of text files with a JavaScript regular expression. Prints path:line: text, and with context ' +
    'the lines around as path-line- text. `glob` narrows the files (`*.ts`, `src/**`). Binary files, .git, ' +
    'node_modules and what .gitignore excludes are left out.',
  access: 'read',
  schema: parameters({
    pattern: z.string().min(1).max(PATTERN_CHARS_MAX),
    path: z.string().optional().describe('File or folder, relative to the root of your tree.'),
    glob: z.string().min(1).max(PATTERN_CHARS_MAX).optional(),
    ignore_case: z.boolean().optional(),
    context: z.number().int().min(0).max(GREP_CONTEXT_MAX).optional(),
  }),
  check: (input, context) => checkPath(input.path ?? '', 'read', context),
  run: async (input, context, signal) => {
    const start = await locate(input.path ?? '', 'read', context);
    if (!start.ok) return failed(start.reason);
    const pattern = compilePattern(input.pattern, input.ignore_case ?? false);
    if (typeof pattern === 'string') return failed(pattern);
    const matches = input.glob === undefined ? () => true : compileGlob(input.glob, true);
    if (typeof matches === 'string') return failed(matches);
    try {
      const search = new Search({ start, pattern, lines: input.context ?? 0, tools: context });
      return await search.run(matches, signal);
    } catch (error) {
      signal.throwIfAborted();
      return failed(await explain(error, start));
    }
  },
});

/** A matcher, or why there is none. `anywhere`: a pattern without a slash matches names at every depth. */
function compileGlob(pattern: string, anywhere: boolean): ((path: string) => boolean) | string {
  const clean = pattern.replace(/^(?:\.\/)+/, '');
  if (clean.startsWith('/') || clean.split('/').includes('..')) {
    return `pattern "${pattern}" leads out of the folder: patterns are relative to path`;
  }
  try {
    return picomatch(clean, { dot: true, basename: anywhere && !clean.includes('/') });
  } catch (error) {
    return `invalid pattern "${pattern}": ${ensureError(error).message}`;
  }
}

function compilePattern(pattern: string, ignoreCase: boolean): RegExp | string {
  try {
    return new RegExp(pattern, ignoreCase ? 'i' : '');
  } catch (error) {
    const hint = /^\(\?[a-z]+\)/.test(pattern) ? ' (for case use ignore_case)' : '';
    return `invalid regular expression: ${ensureError(error).message}${hint}`;
  }
}

interface SearchOptions {
  readonly start: Extract<Located, { ok: true }>;
  readonly pattern: RegExp;
  /** Of context. */
  readonly lines: number;
  readonly tools: ToolContext;
}

class Search {
  readonly #options: SearchOptions;
  readonly #rows: string[] = [];
  readonly #notes: string[] = [];
  readonly #cut: string[] = [];
  readonly #breather: Breather;
  #matches = 0;
  #large = 0;

  constructor(options: SearchOptions) {
    this.#options = options;
    this.#breather = new Breather(options.tools.clock);
  }

  async run(wanted: (path: string) => boolean, signal: AbortSignal): Promise<ToolOutcome> {
    const { start, tools } = this.#options;
    const deadline = tools.clock.monotonicMs() + GREP_MS_MAX;
    const state = newWalk();
    const prefix = start.real === '' ? 0 : start.real.length + 1;
    for await (const path of this.#files(state, signal)) {
      await this.#breather.breathe(signal);
      if (path !== start.real && !wanted(path.slice(prefix))) continue;
      if (tools.clock.monotonicMs() > deadline) {
        this.#notes.push(`stopped after ${GREP_MS_MAX / 1000} s: give a path or a glob`);
        break;
      }
      await this.#searchFile(path, state);
      if (this.#matches >= GREP_MATCHES_MAX) {
        this.#notes.push(`cut at ${GREP_MATCHES_MAX} matches: use a narrower pattern`);
        break;
      }
    }
    if (state.truncated)
      this.#notes.push('the tree is too large to be searched whole: give a path');
    if (this.#large > 0) this.#notes.push(`${counted(this.#large, 'file')} over 2 MiB left out`);
    if (this.#cut.length > 0) {
      this.#notes.push(`the pattern took too long on ${this.#cut.slice(0, 5).join(', ')}`);
    }
    const notes = [...this.#notes.map((note) => `[${note}]`), ...unreadNote(state.unread)];
    const rows = this.#rows.length === 0 ? ['no line matches'] : this.#rows;
    return succeeded([...rows, ...notes].join('\n'));
  }

  async *#files(state: WalkState, signal: AbortSignal): AsyncGenerator<string> {
    const { start } = this.#options;
    const stat = start.real === '' ? null : await start.tree.stat(start.real);
    if (stat?.kind === 'file') yield start.real;
    else {
      const breather = this.#breather;
      const without = this.#options.tools.shut?.globs;
      yield* walkFiles(start.tree, { from: start.real, state, breather, signal, without });
    }
  }

  async #searchFile(path: string, state: WalkState): Promise<void> {
    const { start, pattern, tools } = this.#options;
    const content = await start.tree.read(path, GREP_FILE_BYTES_MAX).catch((error: unknown) => {
      if (path === start.real) throw error;
      state.unread.push(path);
      return null;
    });
    if (content === null) return;
    const { bytes, size } = content;
    if (size > GREP_FILE_BYTES_MAX) {
      this.#large += 1;
      return;
    }
    if (isBinary(bytes)) return;
    const lines = decodeUtf8(bytes, { exact: false }).split(/\r?\n/);
    const hits: number[] = [];
    const left = GREP_MATCHES_MAX - this.#matches;
    const scan = (): void => {
      for (const [index, line] of lines.entries()) {
        if (hits.length >= left) return;
        if (pattern.test(line)) hits.push(index);
      }
    };
    if (!needsLimit(pattern)) scan();
    else if (!tools.limitWork(scan, GREP_FILE_MS_MAX)) this.#cut.push(path);
    if (hits.length > 0 && tools.shut?.mayShow(path) === false) return;
    this.#matches += hits.length;
    this.#show(path, lines, hits);
  }

  #show(path: string, lines: readonly string[], hits: readonly number[]): void {
    const around = this.#options.lines;
    const matched = new Set(hits);
    let shownTo = -1;
    for (const hit of hits) {
      const from = Math.max(hit - around, shownTo + 1, 0);
      if (around > 0 && this.#rows.length > 0 && (shownTo < 0 || from > shownTo + 1)) {
        this.#rows.push('--');
      }
      const to = Math.min(hit + around, lines.length - 1);
      for (let index = from; index <= to; index += 1) {
        const mark = matched.has(index) ? ':' : '-';
        this.#rows.push(`${path}${mark}${index + 1}${mark} ${fit(lines[index] ?? '')}`);
      }
      shownTo = Math.max(shownTo, to);
    }
  }
}

/** Two quantifiers are enough to take for ever; with one at most, a line costs little. */
function needsLimit(pattern: RegExp): boolean {
  return (pattern.source.match(/[*+{]|\)\?/g) ?? []).length > 1;
}

function fit(line: string): string {
  if (line.length <= GREP_LINE_CHARS) return line;
  return `${line.slice(0, GREP_LINE_CHARS)} [… cut: ${line.length} characters]`;
}
