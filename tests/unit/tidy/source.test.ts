import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../../', import.meta.url));

function filesBelow(folder: string): string[] {
  if (!existsSync(root + folder)) return [];
  return readdirSync(root + folder, { withFileTypes: true })
    .filter((entry) => entry.name !== 'node_modules')
    .flatMap((entry) =>
      entry.isDirectory() ? filesBelow(`${folder}/${entry.name}`) : [`${folder}/${entry.name}`],
    );
}

const read = (path: string): string => readFileSync(root + path, 'utf8');
const sources = filesBelow('src');
const code = ['src', 'tests', 'bench', 'scripts', 'bin']
  .flatMap(filesBelow)
  .filter((path) => /\.(ts|tsx|js|mjs)$/.test(path));

/** Lines that are neither blank nor only a comment. */
function codeLines(text: string): number {
  const withoutBlocks = text.replaceAll(/^\s*\/\*[\s\S]*?\*\/\s*$/gm, '');
  return withoutBlocks.split('\n').filter((line) => !/^\s*(\/\/.*)?$/.test(line)).length;
}

test('each room has an index.ts that begins with a header comment', () => {
  const rooms = readdirSync(`${root}src`, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'main')
    .map((entry) => `src/${entry.name}/index.ts`);
  const headless = rooms.filter(
    (path) =>
      !existsSync(root + path) || !/^\s*(\/\*\*?\s*[\s\S]{20,}?\*\/|\/\/.{20,})/.test(read(path)),
  );
  expect(headless).toEqual([]);
});

test('no source file is longer than 400 lines of code', () => {
  const long = sources
    .filter((path) => path.endsWith('.ts'))
    .map((path) => ({ path, lines: codeLines(read(path)) }))
    .filter(({ lines }) => lines > 400);
  expect(long).toEqual([]);
});

test('nothing is left to do later in the code', () => {
  // Spelled so that this file does not match itself.
  const marker = /\b(TO(?=DO)DO|FIX(?=ME)ME)\b/;
  expect(code.filter((path) => marker.test(read(path)))).toEqual([]);
});

test('file and folder names are kebab-case and say what is inside', () => {
  const vague = ['utils', 'util', 'helpers', 'helper', 'common', 'misc', 'manager'];
  const bad = code.filter((path) =>
    path
      .split('/')
      .map((part) => part.replace(/(\.(test|sim|d))?\.(ts|tsx|js|mjs)$/, ''))
      .some(
        (name) =>
          !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) ||
          vague.some((word) => name.split('-').includes(word)),
      ),
  );
  expect(bad.map((path) => basename(path))).toEqual([]);
});

// oxlint bans the other sources of time and chance; it cannot tell `new Date()` from `new Date(ms)`.
test('the current time is read at the edge only', () => {
  const edge =
    /^src\/((platform|main|ipc|http|cli|tui)\/|client\/socket\.ts|actors\/host\/(thread|pool|process)\.ts)/;
  const clockless = sources.filter((path) => path.endsWith('.ts') && !edge.test(path));
  expect(clockless.filter((path) => /\bnew Date\(\s*\)/.test(read(path)))).toEqual([]);
});
