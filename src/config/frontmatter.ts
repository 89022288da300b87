/**
 * A Markdown file that begins with YAML between two lines `---`: profiles and skills. The YAML is read by the one reader of
 * this room, and nothing in it is ever executed.
 */
import { plainText, type ReadDocument, readDocument } from './document.ts';
import type { Problem } from './problem.ts';

export interface Frontmatter
  extends Pick<Extract<ReadDocument, { kind: 'ok' }>, 'locate' | 'locateAll'> {
  readonly kind: 'ok';
  /** False: the file has no front matter, and all of it is the body. */
  readonly found: boolean;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly body: string;
  /** Line of the file on which the body begins. */
  readonly bodyLine: number;
  /** What is no valid YAML and was understood all the same (only when `lenient`). */
  readonly odd: readonly Problem[];
}

export type ReadFrontmatter =
  | Frontmatter
  | { readonly kind: 'problems'; readonly problems: readonly Problem[] };

export interface FrontmatterOptions {
  /** Files of other tools: a value that is no valid YAML because of a colon in it is taken as text. */
  readonly lenient: boolean;
}

export function readFrontmatter(
  source: string | Uint8Array,
  options: FrontmatterOptions,
): ReadFrontmatter {
  const plain = plainText(source);
  if (typeof plain !== 'string') return { kind: 'problems', problems: [plain] };
  const lines = plain.split('\n');
  if (!isFence(lines[0])) return read('', { lines, from: 0, found: false });
  const end = lines.findIndex((line, index) => index > 0 && isFence(line));
  if (end < 0) {
    const message = 'the front matter has no end: a second line `---` is missing';
    return { kind: 'problems', problems: [{ path: '', line: 1, column: 1, message }] };
  }
  // An empty line in the place of the fence, so that places are those of the file.
  const yaml = ['', ...lines.slice(1, end)].join('\n');
  const strict = read(yaml, { lines, from: end + 1, found: true });
  if (strict.kind === 'ok' || !options.lenient) return strict;
  const mended = read(quoteValues(yaml), { lines, from: end + 1, found: true });
  return mended.kind === 'ok' ? { ...mended, odd: strict.problems } : strict;
}

const isFence = (line: string | undefined): boolean => /^---[ \t]*\r?$/.test(line ?? '');

function read(
  yaml: string,
  rest: { readonly lines: readonly string[]; readonly from: number; readonly found: boolean },
): ReadFrontmatter {
  const document = readDocument(yaml);
  if (document.kind === 'problems') return document;
  const { value = {}, locate, locateAll } = document;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const message = 'the front matter must be a mapping: `name: value` on each line';
    return { kind: 'problems', problems: [locate({ path: [], message })] };
  }
  return {
    kind: 'ok',
    found: rest.found,
    fields: Object.fromEntries(Object.entries(value)),
    body: rest.lines.slice(rest.from).join('\n').replaceAll('\r\n', '\n').trim(),
    bodyLine: rest.from + 1,
    locate,
    locateAll,
    odd: [],
  };
}

/** `description: Use it when: …` as its writer meant it. */
function quoteValues(yaml: string): string {
  return yaml
    .split('\n')
    .map((line) => {
      const [, key, value] = /^([A-Za-z][\w-]*):[ \t]+([^"'|>[{&*!#\s].*?)\r?$/.exec(line) ?? [];
      return key === undefined || value === undefined ? line : `${key}: ${JSON.stringify(value)}`;
    })
    .join('\n');
}
