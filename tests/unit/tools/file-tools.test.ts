import { expect, test } from 'vitest';
import { VirtualClock } from '../../../src/testing/virtual-clock.ts';
import { toolNamed } from '../../../src/tools/index.ts';
import { call, contextOf, MemoryOutputs } from './call.ts';
import { MemoryTree } from './memory-tree.ts';

test('read_file numbers the lines and says how to go on', async () => {
  const context = contextOf(new MemoryTree({ 'a.txt': 'one\ntwo\nthree\n' }));
  expect(await call('read_file', { path: 'a.txt' }, context)).toBe(
    '    1\tone\n    2\ttwo\n    3\tthree',
  );
  expect(await call('read_file', { path: 'a.txt', offset: 2, limit: 1 }, context)).toBe(
    '    2\ttwo\n[lines 2 to 2 of 3; go on with offset 3]',
  );
  expect(await call('read_file', { path: 'a.txt', offset: 9 }, context)).toBe(
    '! a.txt has 3 lines; there is no line 9',
  );
});

test('read_file keeps CRLF and says so, hides the byte order mark, knows empty and binary', async () => {
  const context = contextOf(
    new MemoryTree({ crlf: '\uFEFFa\r\nb\r\n', empty: '', bin: new Uint8Array([1, 0, 2]) }),
  );
  expect(await call('read_file', { path: 'crlf' }, context)).toBe(
    '    1\ta\r\n    2\tb\r\n[line endings are CRLF]',
  );
  expect(await call('read_file', { path: 'empty' }, context)).toBe('(empty file)');
  expect(await call('read_file', { path: 'bin' }, context)).toBe(
    '! bin is a binary file (3 bytes)',
  );
});

test('read_file stays within its bounds and says what was left out', async () => {
  const long = Array.from({ length: 5000 }, (_, index) => `line ${index} of many`).join('\n');
  const context = contextOf(new MemoryTree({ long, wide: 'x'.repeat(9000) }));
  const text = await call('read_file', { path: 'long' }, context);
  expect(text.length).toBeLessThan(16 * 1024);
  const next = Number(/go on with offset (\d+)/.exec(text)?.[1]);
  expect(await call('read_file', { path: 'long', offset: next, limit: 1 }, context)).toContain(
    `line ${next - 1} of many`,
  );
  expect(await call('read_file', { path: 'wide' }, context)).toContain(
    'the line has 9000 characters',
  );
});

test('what is not there, or no file, is said in words, with near names', async () => {
  const context = contextOf(new MemoryTree({ 'src/parser.js': '', 'src/x': '' }));
  expect(await call('read_file', { path: 'src/parsr.js' }, context)).toBe(
    '! src/parsr.js does not exist; did you mean src/parser.js?',
  );
  expect(await call('read_file', { path: 'src' }, context)).toBe(
    '! src is a directory: use list_dir',
  );
  expect(await call('list_dir', { path: 'src/x' }, context)).toContain('is a file');
});

test('W1 W2: links that lead out of the tree or into .git are refused, to read and to write', async () => {
  const tree = new MemoryTree({ 'a.txt': 'x', '.git/config': 'secret' });
  tree.links.set('out', '/etc');
  tree.links.set('up', '../other');
  tree.links.set('meta', '.git');
  tree.links.set('alias', 'a.txt');
  const context = contextOf(tree);
  for (const path of ['out/passwd', 'up/x', 'meta/config']) {
    expect(await call('read_file', { path }, context)).toMatch(/^! .*(out of your tree|protected)/);
    expect(await call('write_file', { path, content: '' }, context)).toMatch(/^! /);
    expect(await call('edit_file', { path, old_text: 's', new_text: 't' }, context)).toMatch(/^! /);
  }
  expect(await call('list_dir', { path: 'meta' }, context)).toMatch(/protected/);
  expect(await call('grep', { pattern: 'secret', path: 'meta' }, context)).toMatch(/protected/);
  expect(await call('read_file', { path: 'alias' }, context)).toBe('    1\tx');
  expect(tree.log).toEqual([]);
});

test('write_file creates and replaces; without a writable tree it is refused', async () => {
  const tree = new MemoryTree({ 'a.txt': 'old' });
  const context = contextOf(tree);
  expect(await call('write_file', { path: 'a.txt', content: 'new' }, context)).toBe(
    'replaced a.txt (3 bytes)',
  );
  expect(await call('write_file', { path: 'd/e/b.txt', content: 'ü' }, context)).toBe(
    'created d/e/b.txt (2 bytes)',
  );
  expect(await call('write_file', { path: 'd', content: '' }, context)).toBe('! d is a directory');
  expect(await call('write_file', { path: '', content: '' }, context)).toMatch(/^! /);
  const readOnly = contextOf(tree, { writable: false });
  expect(await call('write_file', { path: 'a.txt', content: 'x' }, readOnly)).toBe(
    '! you have no task: claim one first',
  );
  expect(await call('read_file', { path: 'a.txt' }, contextOf(null))).toMatch(/no working tree/);
  expect(tree.text('a.txt')).toBe('new');
});

test('edit_file refuses a text that is missing or not unique, and says where it is', async () => {
  const tree = new MemoryTree({ 'a.js': 'let a = 1;\nlet b = 1;\n  let c = 2;\n' });
  const context = contextOf(tree);
  const edit = (old_text: string, new_text: string, more: object = {}): Promise<string> =>
    call('edit_file', { path: 'a.js', old_text, new_text, ...more }, context);
  expect(await edit('= 1', '= 3')).toBe(
    '! a.js: old_text is there 2 times (lines 1, 2): give more of its surroundings, or set replace_all',
  );
  expect(await edit('let c = 2;\nx', 'y')).toBe(
    '! a.js: old_text was not found; its first line is on line 3, but what follows or the white space differs',
  );
  expect(await edit('zzz', 'y')).toBe('! a.js: old_text was not found');
  expect(await edit('let', 'let')).toMatch(/^! a.js: old_text is there 3 times/);
  expect(await edit('c = 2', 'c = 2')).toBe('! a.js: old_text and new_text are the same');
  expect(tree.log).toEqual([]);
  expect(await edit('b = 1', 'b = $& 2')).toBe('edited a.js at line 2');
  expect(await edit('let', 'const', { replace_all: true })).toBe('edited a.js in 3 places');
  expect(tree.text('a.js')).toBe('const a = 1;\nconst b = $& 2;\n  const c = 2;\n');
});

test('edit_file counts overlapping matches as more than one', async () => {
  const tree = new MemoryTree({ a: 'xaaay' });
  const context = contextOf(tree);
  expect(await call('edit_file', { path: 'a', old_text: 'aa', new_text: 'b' }, context)).toMatch(
    /2 times/,
  );
  const all = { path: 'a', old_text: 'aa', new_text: 'b', replace_all: true };
  await call('edit_file', all, context);
  expect(tree.text('a')).toBe('xbay');
});

test('edit_file keeps line endings, byte order mark and bytes that it can not read', async () => {
  const latin = new Uint8Array([0xe4, 0x0a]);
  const tree = new MemoryTree({ crlf: '\uFEFFa\r\nb\r\nc\r\n', mixed: 'a\nb\r\nc\nd\n', latin });
  const context = contextOf(tree);
  const edit = (path: string, old_text: string, new_text: string): Promise<string> =>
    call('edit_file', { path, old_text, new_text }, context);
  expect(await edit('crlf', 'a\nb', 'a\nB\nb')).toBe('edited crlf at line 1');
  expect(tree.text('crlf')).toBe('\uFEFFa\r\nB\r\nb\r\nc\r\n');
  await edit('crlf', 'c', 'c\nd');
  expect(tree.text('crlf')).toBe('\uFEFFa\r\nB\r\nb\r\nc\r\nd\r\n');
  await edit('mixed', 'b\nc', 'x\ny');
  expect(tree.text('mixed')).toBe('a\nx\ny\nd\n');
  expect(await edit('latin', '\n', 'x')).toMatch(/not UTF-8/);
  expect(tree.files.get('latin')).toBe(latin);
});

test('list_dir marks folders and links', async () => {
  const tree = new MemoryTree({ 'b.txt': '', 'a/x': '', '.env': '' });
  tree.links.set('l', 'b.txt');
  expect(await call('list_dir', {}, contextOf(tree))).toBe('.env\na/\nb.txt\nl@');
  expect(await call('list_dir', { path: 'zz' }, contextOf(tree))).toBe('! zz does not exist');
});

test('a large result keeps head and tail, and the whole can be read back by its owner alone', async () => {
  const files = Object.fromEntries(
    Array.from({ length: 900 }, (_, index) => [`a-rather-long-name-of-a-file-${index}.txt`, '']),
  );
  const outputs = new MemoryOutputs();
  const context = contextOf(new MemoryTree(files), { outputs });
  const text = await call('list_dir', {}, context);
  const path = /in (outputs\/[\w.]+\.log)/.exec(text)?.[1];
  expect(path).toBe('outputs/out_1.log');
  expect(text).toContain(`the whole is ${outputs.saved.get(path!)?.length} bytes`);
  expect(text.startsWith('a-rather-long-name-of-a-file-0.txt\n')).toBe(true);
  expect(text.endsWith('file-99.txt')).toBe(true);
  expect(text.length).toBeLessThan(16 * 1024);
  expect(await call('read_file', { path, offset: 450, limit: 1 }, context)).toMatch(/^ {2}450\t/);
  const stranger = contextOf(new MemoryTree(), { outputs, ownsOutput: () => false });
  expect(await call('read_file', { path }, stranger)).toMatch(/^! .*does not exist/);
});

test('what became of a cut call is read off the file', async () => {
  const tree = new MemoryTree({ a: 'new', b: 'old text', c: 'neither', d: 'old old2' });
  const context = contextOf(tree);
  const effect = (name: string, input: object): unknown =>
    toolNamed(name)?.effect?.(input, context);
  expect(await effect('write_file', { path: 'a', content: 'new' })).toBe('done');
  expect(await effect('write_file', { path: 'b', content: 'new' })).toBe('not-done');
  expect(await effect('write_file', { path: 'zz', content: '' })).toBe('not-done');
  const edit = { old_text: 'old', new_text: 'new' };
  expect(await effect('edit_file', { path: 'a', ...edit })).toBe('done');
  expect(await effect('edit_file', { path: 'b', ...edit })).toBe('not-done');
  expect(await effect('edit_file', { path: 'c', ...edit })).toBe('unknown');
  const insert = { old_text: 'old', new_text: 'old2' };
  expect(await effect('edit_file', { path: 'd', ...insert })).toBe('done');
  expect(await effect('edit_file', { path: 'b', ...insert })).toBe('not-done');
});

test('multi_edit makes all edits in order on the text before, or none', async () => {
  const tree = new MemoryTree({ 'a.js': 'one\r\ntwo\r\nthree\r\n' });
  const context = contextOf(tree);
  const edit = (edits: object[]): Promise<string> =>
    call('multi_edit', { path: 'a.js', edits }, context);
  const first = { old_text: 'two', new_text: '2\nII' };
  expect(await edit([first, { old_text: 'two', new_text: 'x' }])).toBe(
    '! a.js: nothing was changed, edits[1] can not be made: old_text was not found',
  );
  expect(await edit([first, { old_text: 'e', new_text: 'E' }])).toMatch(/edits\[1\].*3 times/);
  expect(tree.log).toEqual([]);
  expect(
    await edit([
      first,
      { old_text: '2\nII', new_text: 'TWO' },
      { old_text: 'e', new_text: 'E', replace_all: true },
    ]),
  ).toBe('edited a.js at line 2, at line 2, in 3 places');
  expect(tree.log).toEqual(['write a.js']);
  expect(tree.text('a.js')).toBe('onE\r\nTWO\r\nthrEE\r\n');
  expect(await edit([])).toContain('- edits: ');
  expect(await edit([{ old_text: 'x', new_text: 'y', at: 3 }])).toContain(
    '- edits[0].at: unknown parameter',
  );
});

test('what became of a cut multi_edit is read off the file', async () => {
  const edits = [
    { old_text: 'a1', new_text: 'b1' },
    { old_text: 'b1', new_text: 'c1' },
    { old_text: 'a2', new_text: 'a2 and more' },
  ];
  const before = 'a1\na2\n';
  const tree = new MemoryTree({ before, other: 'neither\n', half: 'c1\na2\n' });
  const context = contextOf(tree);
  const effect = (path: string): unknown =>
    toolNamed('multi_edit')?.effect?.({ path, edits }, context);
  expect(await effect('before')).toBe('not-done');
  await call('multi_edit', { path: 'before', edits }, context);
  expect(tree.text('before')).toBe('c1\na2 and more\n');
  expect(await effect('before')).toBe('done');
  expect(await effect('other')).toBe('unknown');
  expect(await effect('half')).toBe('unknown');
  expect(await effect('none')).toBe('unknown');
});

test('read_file names images and large binary files by what they are, with their size', async () => {
  const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a]);
  const sparse = new Uint8Array(11 * 1024 * 1024);
  const context = contextOf(new MemoryTree({ 'a.png': png, sparse }));
  expect(await call('read_file', { path: 'a.png' }, context)).toBe(
    '! a.png is a PNG image, not text (6 bytes)',
  );
  expect(await call('read_file', { path: 'sparse' }, context)).toBe(
    '! sparse is a binary file (11534336 bytes)',
  );
});

/** Larger than what is held whole; each line says its number. */
function longText(lines: number): string {
  return Array.from({ length: lines }, (_, index) => `${index + 1} ${'ü'.repeat(60)}\n`).join('');
}

test('read_file reads through a file of any size from any line on, with its size and where to go on', async () => {
  const long = longText(100_000);
  const size = new TextEncoder().encode(long).length;
  expect(size).toBeGreaterThan(11 * 1024 * 1024);
  const outputs = new MemoryOutputs();
  const { path } = await outputs.save(long);
  const tree = new MemoryTree({ long });
  let largest = 0;
  const { read } = tree;
  tree.read = async (name, maxBytes, offset) => {
    largest = Math.max(largest, maxBytes);
    return read.call(tree, name, maxBytes, offset);
  };
  const context = contextOf(tree, { outputs });
  for (const file of ['long', path]) {
    expect(await call('read_file', { path: file, limit: 2 }, context)).toMatch(
      new RegExp(
        `^ {4}1\\t1 ü+\\n {4}2\\t2 ü+\\n\\[lines 1 to 2; the file has ${size} bytes; go on with offset 3\\]$`,
      ),
    );
    const end = await call('read_file', { path: file, offset: 99_999 }, context);
    expect(end).toMatch(/^99999\t99999 ü+\n100000\t100000 ü+\n\[lines 99999 to 100000 of 100000; /);
    expect(end).not.toContain('go on');
    expect(await call('read_file', { path: file, offset: 100_001 }, context)).toBe(
      `! ${file} has 100000 lines; there is no line 100001`,
    );
  }
  expect(largest).toBeLessThanOrEqual(1024 * 1024);
  const all = await call('read_file', { path: 'long', offset: 7 }, context);
  expect(all.length).toBeLessThan(16 * 1024);
  const next = Number(/go on with offset (\d+)/.exec(all)?.[1]);
  expect(all).toContain(`\n${String(next - 1).padStart(5)}\t${next - 1} `);
});

test('read_file of a large file: a line without an end, CRLF, damaged bytes and a deadline are named', async () => {
  const endless = new Uint8Array(12 * 1024 * 1024).fill(0x78);
  endless.set(new TextEncoder().encode('\uFEFFone\r\ntwo\r\n\xff'), 0);
  endless[13] = 0xff;
  const binary = new Uint8Array(11 * 1024 * 1024);
  const context = contextOf(new MemoryTree({ endless, binary }));
  const text = await call('read_file', { path: 'endless' }, context);
  expect(text).toMatch(
    /^ {4}1\tone\r\n {4}2\ttwo\r\n {4}3\t\uFFFD.*cut: the line has \d+ bytes or more\]\n/,
  );
  expect(text).toContain(
    '[lines 1 to 3; the file has 12582912 bytes; line 3 goes on for more than',
  );
  expect(text).toContain('line endings are CRLF');
  expect(text).toContain('not UTF-8 are shown as \uFFFD (line 3)');
  expect(await call('read_file', { path: 'binary' }, context)).toBe(
    '! binary is a binary file (11534336 bytes)',
  );
  let ms = 0;
  const clock = Object.assign(new VirtualClock(), {
    monotonicMs: () => ms,
    sleep: () => Promise.resolve(),
  });
  const slow = new MemoryTree({ endless });
  slow.onRead = async () => {
    ms += 6000;
  };
  expect(
    await call('read_file', { path: 'endless', offset: 9 }, contextOf(slow, { clock })),
  ).toMatch(
    /^! endless has 12582912 bytes, and line 9 was not reached within 10 s \(so far: 2 lines/,
  );
});

test('read_file names the lines whose bytes are not UTF-8, and no others', async () => {
  const latin = new Uint8Array([0x61, 0x0a, 0xe4, 0x0a, 0xef, 0xbf, 0xbd, 0x0a]);
  const context = contextOf(new MemoryTree({ latin }));
  expect(await call('read_file', { path: 'latin' }, context)).toBe(
    '    1\ta\n    2\t\uFFFD\n    3\t\uFFFD\n' +
      '[bytes that are not UTF-8 are shown as \uFFFD (line 2); edit_file refuses such a file]',
  );
  expect(await call('read_file', { path: 'latin', offset: 3 }, context)).not.toContain('UTF-8');
});
