import { createContext, Script } from 'node:vm';
import { expect, test } from 'vitest';
import { call, contextOf } from './call.ts';
import { MemoryTree } from './memory-tree.ts';

const tree = new MemoryTree({
  'src/a.ts': 'export const a = 1;\n\nexport function alpha() {}\n// end\n',
  'src/deep/b.ts': 'import { a } from "../a.ts";\r\n',
  'src/gen/out.ts': 'export const generated = 1;\n',
  'src/gen/keep.ts': 'export const kept = 1;\n',
  'dist/x.js': 'export {}',
  'node_modules/p/index.js': 'export {}',
  '.git/config': 'export',
  '.github/ci.yml': 'run: export\n',
  '.troupe/policy.yaml': 'export',
  '.troupe/agents/ada.md': 'export\n',
  '.gitignore': 'dist/\n*.log\n',
  'src/gen/.gitignore': '*.ts\n!keep.ts\n',
  'debug.log': 'export',
  bin: new Uint8Array([101, 120, 0]),
});

const context = contextOf(tree);

test('glob finds by pattern; ignored and protected folders are left out, hidden files are not', async () => {
  expect(await call('glob', { pattern: '**/*.ts' }, context)).toBe(
    'src/a.ts\nsrc/gen/keep.ts\nsrc/deep/b.ts'.split('\n').toSorted().join('\n'),
  );
  expect(await call('glob', { pattern: '*.ts', path: 'src' }, context)).toBe('src/a.ts');
  expect(await call('glob', { pattern: '**/*.{yml,md,yaml,log}' }, context)).toBe(
    '.github/ci.yml\n.troupe/agents/ada.md',
  );
  expect(await call('glob', { pattern: '**/config' }, context)).toBe('no file matches');
  expect(await call('glob', { pattern: '*.js', path: 'dist' }, context)).toBe('dist/x.js');
  expect(await call('glob', { pattern: '../**' }, context)).toMatch(/^! .*leads out/);
});

test('what git leaves out besides is left out, and any .gitignore overrules it', async () => {
  const listed = new MemoryTree({
    'notes/mine.md': 'x',
    'a.tmp': 'x',
    'kept.tmp': 'x',
    'deep/kept.tmp': 'x',
    'deep/b.bak': 'x',
    '.gitignore': '!/kept.tmp\n',
  });
  // First the person's own file, then the clone's, which is stronger.
  listed.ignores = ['*.tmp\n*.bak\n', 'notes/\n!*.bak\n'];
  const found = 'kept.tmp\ndeep/b.bak';
  expect(await call('glob', { pattern: '**/*.{md,tmp,bak}' }, contextOf(listed))).toBe(found);
  expect(await call('grep', { pattern: '^x' }, contextOf(listed))).toBe(
    'kept.tmp:1: x\ndeep/b.bak:1: x',
  );
  expect(await call('glob', { pattern: '*', path: 'deep' }, contextOf(listed))).toBe('deep/b.bak');
  // Who names a folder that is left out wants to see it.
  expect(await call('glob', { pattern: '*', path: 'notes' }, contextOf(listed))).toBe(
    'notes/mine.md',
  );
});

test('grep prints path, line and text, with context where asked', async () => {
  expect(await call('grep', { pattern: '^export (const|function) a' }, context)).toBe(
    'src/a.ts:1: export const a = 1;\nsrc/a.ts:3: export function alpha() {}',
  );
  expect(await call('grep', { pattern: 'ALPHA', ignore_case: true, context: 1 }, context)).toBe(
    'src/a.ts-2- \nsrc/a.ts:3: export function alpha() {}\nsrc/a.ts-4- // end',
  );
  expect(await call('grep', { pattern: 'export', glob: '*.yml' }, context)).toBe(
    '.github/ci.yml:1: run: export',
  );
  expect(await call('grep', { pattern: 'a.ts";$', path: 'src/deep/b.ts' }, context)).toBe(
    'src/deep/b.ts:1: import { a } from "../a.ts";',
  );
  expect(await call('grep', { pattern: 'nowhere' }, context)).toBe('no line matches');
  expect(await call('grep', { pattern: 'x', path: 'zz' }, context)).toMatch(/^! zz does not exist/);
});

test('an invalid pattern is an error with its reason', async () => {
  expect(await call('grep', { pattern: '(' }, context)).toMatch(
    /^! invalid regular expression: .*Unterminated group/,
  );
  expect(await call('grep', { pattern: '(?i)x' }, context)).toContain('use ignore_case');
});

test('grep stops at its bounds and says so', async () => {
  const many = contextOf(new MemoryTree({ a: 'x\n'.repeat(1000), b: `x${'y'.repeat(9000)}` }));
  const text = await call('grep', { pattern: 'x' }, many);
  expect(text.split('\n')).toHaveLength(201);
  expect(text).toContain('[cut at 200 matches: use a narrower pattern]');
  expect(await call('grep', { pattern: 'x', path: 'b' }, many)).toContain('9001 characters');
});

test('a pattern that never ends is cut, and the answer says on which file', async () => {
  const evil = new MemoryTree({ a: `${'a'.repeat(40)}!`, b: 'aab' });
  const limited = contextOf(evil, {
    limitWork: (work) => {
      try {
        new Script('work()').runInContext(createContext({ work }), { timeout: 500 });
        return true;
      } catch {
        return false;
      }
    },
  });
  expect(await call('grep', { pattern: '^(a+)+b$' }, limited)).toBe(
    'b:1: aab\n[the pattern took too long on a]',
  );
});

test('a file or a folder that can not be read is named, and the rest is searched all the same', async () => {
  const tree = new MemoryTree({ 'a/x': 'hit', 'b/gone': 'hit', 'c/x': 'hit', 'd/x': 'hit' });
  const { list } = tree;
  tree.list = async (path) => {
    if (path === 'c') throw Object.assign(new Error('EACCES'), { code: 'EACCES' });
    return list.call(tree, path);
  };
  tree.onRead = async (path) => {
    if (path === 'b/gone') throw Object.assign(new Error('ENOENT'), { code: 'ENOENT' });
  };
  const context = contextOf(tree);
  expect(await call('grep', { pattern: 'hit' }, context)).toBe(
    'a/x:1: hit\nd/x:1: hit\n[could not be read: b/gone, c]',
  );
  expect(await call('glob', { pattern: '**' }, context)).toBe(
    'a/x\nb/gone\nd/x\n[could not be read: c]',
  );
  // What was asked for by name is an error, not a note.
  expect(await call('grep', { pattern: 'hit', path: 'c' }, context)).toBe('! c: permission denied');
  expect(await call('grep', { pattern: 'hit', path: 'b/gone' }, context)).toMatch(
    /^! b\/gone does not exist/,
  );
});

test('nested .gitignore files: the innermost that says something decides, and links are not followed', async () => {
  const tree = new MemoryTree({
    '.gitignore': '*.log\n/only-here\nbuild/\n',
    'a.log': 'hit',
    'only-here': 'hit',
    'sub/.gitignore': '!keep.log\nlocal\n',
    'sub/keep.log': 'hit',
    'sub/other.log': 'hit',
    'sub/local': 'hit',
    'sub/only-here': 'hit',
    'sub/build/x': 'hit',
    'sub/deep/.gitignore': 'keep.log\n',
    'sub/deep/keep.log': 'hit',
    local: 'hit',
  });
  tree.links.set('out', '/etc');
  tree.links.set('sub/loop', 'sub');
  const found = 'local\nsub/.gitignore\nsub/keep.log\nsub/only-here\nsub/deep/.gitignore';
  expect(await call('glob', { pattern: '**' }, contextOf(tree))).toBe(`.gitignore\n${found}`);
  expect(await call('grep', { pattern: 'hit', path: 'sub' }, contextOf(tree))).toBe(
    'sub/keep.log:1: hit\nsub/only-here:1: hit',
  );
  expect(await call('glob', { pattern: '**', path: 'out' }, contextOf(tree))).toMatch(
    /^! .*out of/,
  );
});
